<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * What every exception of this library is, so that one catch gets them all. Thrown itself when something is wrong
 * before anything is sent (a missing key, an empty id) and for an answer that is not the service's.
 */
class PostriderException extends \RuntimeException
{
    /**
     * @param int|null $status the HTTP status; null when there was no answer
     * @param string|null $errorCode machine-readable: the service's own, for example `domain_not_verified`; `http_502`
     *     when its answer has none; `network_error`, `timeout`, `missing_api_key`, `invalid_argument` and the like when
     *     it was not the service (getCode() is PHP's own number and always 0)
     * @param string|null $requestId the X-Request-Id of the answer: quote it when you ask for help
     * @param int|null $index which email of a batch is meant, from 0; else null
     */
    public function __construct(
        string $message,
        public readonly ?int $status = null,
        public readonly ?string $errorCode = null,
        public readonly ?string $requestId = null,
        ?\Throwable $previous = null,
        public readonly ?int $index = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
