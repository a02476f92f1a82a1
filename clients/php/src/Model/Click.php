<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.clicked`; machine: a program, not a person, followed the link.
 *
 * @phpstan-type ClickFields array{
 *     url: string,
 *     link_index: int,
 *     first: bool,
 *     ip: string|null,
 *     user_agent: string|null,
 *     machine: bool,
 * }
 */
final class Click implements \JsonSerializable
{
    public function __construct(
        public readonly string $url,
        public readonly int $linkIndex,
        public readonly bool $first,
        public readonly ?string $ip,
        public readonly ?string $userAgent,
        public readonly bool $machine,
    ) {
    }

    /**
     * A field that this version does not know is left out; one that is missing is empty.
     *
     * @param array<mixed> $fields a parsed answer
     */
    public static function fromArray(array $fields): self
    {
        $read = new Fields($fields);

        return new self(
            url: $read->string('url'),
            linkIndex: $read->int('link_index'),
            first: $read->bool('first'),
            ip: $read->stringOrNull('ip'),
            userAgent: $read->stringOrNull('user_agent'),
            machine: $read->bool('machine'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return ClickFields
     */
    public function toArray(): array
    {
        return [
            'url' => $this->url,
            'link_index' => $this->linkIndex,
            'first' => $this->first,
            'ip' => $this->ip,
            'user_agent' => $this->userAgent,
            'machine' => $this->machine,
        ];
    }

    /**
     * @return ClickFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
