<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A recipient that was dropped before queuing.
 *
 * @phpstan-type RejectedRecipientFields array{
 *     to: string,
 *     reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 * }
 */
final class RejectedRecipient implements \JsonSerializable
{
    /**
     * @param 'hard_bounce'|'complaint'|'unsubscribe'|'manual' $reason
     */
    public function __construct(
        public readonly string $to,
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
            to: $read->string('to'),
            reason: $read->string('reason'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return RejectedRecipientFields
     */
    public function toArray(): array
    {
        return [
            'to' => $this->to,
            'reason' => $this->reason,
        ];
    }

    /**
     * @return RejectedRecipientFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
