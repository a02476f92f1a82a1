<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What the verification found for one record.
 *
 * @phpstan-type DomainCheckFields array{
 *     record: 'dkim'|'spf'|'dmarc',
 *     name: string,
 *     type: string,
 *     required: bool,
 *     ok: bool,
 *     expected: string,
 *     found: list<string>,
 *     reason: string|null,
 *     message: string,
 * }
 */
final class DomainCheck implements \JsonSerializable
{
    /**
     * @param 'dkim'|'spf'|'dmarc' $record
     * @param list<string> $found
     */
    public function __construct(
        public readonly string $record,
        public readonly string $name,
        public readonly string $type,
        public readonly bool $required,
        public readonly bool $ok,
        public readonly string $expected,
        public readonly array $found,
        public readonly ?string $reason,
        /** What is right, or what to change. */
        public readonly string $message,
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
            record: $read->string('record'),
            name: $read->string('name'),
            type: $read->string('type'),
            required: $read->bool('required'),
            ok: $read->bool('ok'),
            expected: $read->string('expected'),
            found: $read->strings('found'),
            reason: $read->stringOrNull('reason'),
            message: $read->string('message'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return DomainCheckFields
     */
    public function toArray(): array
    {
        return [
            'record' => $this->record,
            'name' => $this->name,
            'type' => $this->type,
            'required' => $this->required,
            'ok' => $this->ok,
            'expected' => $this->expected,
            'found' => $this->found,
            'reason' => $this->reason,
            'message' => $this->message,
        ];
    }

    /**
     * @return DomainCheckFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
