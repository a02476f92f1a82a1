<?php

declare(strict_types=1);

namespace Postrider\Internal;

/**
 * One call as it goes over the wire, the same in every attempt.
 *
 * @internal
 */
final class Request
{
    /**
     * @param string|null $body JSON; null when the call has none
     * @param array<string, string> $headers
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly ?string $body = null,
        public readonly array $headers = [],
        public readonly ?Secret $apiKey = null,
    ) {
    }
}
