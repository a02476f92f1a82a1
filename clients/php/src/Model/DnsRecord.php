<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A DNS record to publish.
 *
 * @phpstan-type DnsRecordFields array{
 *     name: string,
 *     type: string,
 *     value: string,
 *     required: bool,
 *     purpose: string,
 * }
 */
final class DnsRecord implements \JsonSerializable
{
    public function __construct(
        public readonly string $name,
        public readonly string $type,
        public readonly string $value,
        public readonly bool $required,
        public readonly string $purpose,
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
            name: $read->string('name'),
            type: $read->string('type'),
            value: $read->string('value'),
            required: $read->bool('required'),
            purpose: $read->string('purpose'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return DnsRecordFields
     */
    public function toArray(): array
    {
        return [
            'name' => $this->name,
            'type' => $this->type,
            'value' => $this->value,
            'required' => $this->required,
            'purpose' => $this->purpose,
        ];
    }

    /**
     * @return DnsRecordFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
