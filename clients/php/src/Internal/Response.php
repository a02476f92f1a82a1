<?php

declare(strict_types=1);

namespace Postrider\Internal;

/**
 * An answer as it came over the wire.
 *
 * @internal
 */
final class Response
{
    /**
     * @param array<string, string> $headers names in lower case
     */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }

    public function header(string $name): ?string
    {
        return $this->headers[$name] ?? null;
    }

    /**
     * @return array<mixed>|null the JSON object in the body; null when there is none
     */
    public function json(): ?array
    {
        if (!\str_starts_with(\ltrim($this->body), '{')) {
            return null;
        }
        $value = \json_decode($this->body, true);

        return \is_array($value) ? $value : null;
    }
}
