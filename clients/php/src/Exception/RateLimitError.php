<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * 429, and the retries are used up.
 */
class RateLimitError extends PostriderException
{
    /**
     * @param int|null $retryAfter seconds after which a call will be let through; null when the answer does not say
     */
    public function __construct(
        string $message,
        ?int $status = null,
        ?string $errorCode = null,
        ?string $requestId = null,
        public readonly ?int $retryAfter = null,
        ?int $index = null,
    ) {
        parent::__construct($message, $status, $errorCode, $requestId, index: $index);
    }
}
