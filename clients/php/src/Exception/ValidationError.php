<?php

declare(strict_types=1);

namespace Postrider\Exception;

use Postrider\Model\DomainCheck;

/**
 * Every other 4xx: the request has to change before it can succeed.
 */
class ValidationError extends PostriderException
{
    /**
     * @param string|null $domain with `verification_failed`: the domain's name
     * @param DomainCheck|null $check with `verification_failed`: the first check that failed
     */
    public function __construct(
        string $message,
        ?int $status = null,
        ?string $errorCode = null,
        ?string $requestId = null,
        public readonly ?string $domain = null,
        public readonly ?DomainCheck $check = null,
        ?int $index = null,
    ) {
        parent::__construct($message, $status, $errorCode, $requestId, index: $index);
    }
}
