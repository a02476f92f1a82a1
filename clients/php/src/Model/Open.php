<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.opened`; machine: a program, not a person, fetched the pixel.
 *
 * @phpstan-type OpenFields array{
 *     first: bool,
 *     ip: string|null,
 *     user_agent: string|null,
 *     machine: bool,
 *     machine_reason: string|null,
 * }
 */
final class Open implements \JsonSerializable
{
    public function __construct(
        public readonly bool $first,
        public readonly ?string $ip,
        public readonly ?string $userAgent,
        public readonly bool $machine,
        public readonly ?string $machineReason,
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
            first: $read->bool('first'),
            ip: $read->stringOrNull('ip'),
            userAgent: $read->stringOrNull('user_agent'),
            machine: $read->bool('machine'),
            machineReason: $read->stringOrNull('machine_reason'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return OpenFields
     */
    public function toArray(): array
    {
        return [
            'first' => $this->first,
            'ip' => $this->ip,
            'user_agent' => $this->userAgent,
            'machine' => $this->machine,
            'machine_reason' => $this->machineReason,
        ];
    }

    /**
     * @return OpenFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
