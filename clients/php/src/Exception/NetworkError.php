<?php

declare(strict_types=1);

namespace Postrider\Exception;

/**
 * No whole answer came: DNS, TCP, TLS, a broken connection or a timeout, and the retries are used up.
 */
class NetworkError extends PostriderException
{
    /**
     * @param bool $timeout whether it was the time limit that ended the attempt
     */
    public function __construct(string $message, public readonly bool $timeout = false)
    {
        parent::__construct($message, null, $timeout ? 'timeout' : 'network_error');
    }
}
