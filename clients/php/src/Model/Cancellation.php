<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.canceled`.
 *
 * @phpstan-type CancellationFields array{
 *     by: 'sender'|'operator',
 *     reason: string,
 * }
 */
final class Cancellation implements \JsonSerializable
{
    /**
     * @param 'sender'|'operator' $by
     */
    public function __construct(
        public readonly string $by,
        public readonly string $reason,
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
            by: $read->string('by'),
            reason: $read->string('reason'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return CancellationFields
     */
    public function toArray(): array
    {
        return [
            'by' => $this->by,
            'reason' => $this->reason,
        ];
    }

    /**
     * @return CancellationFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
