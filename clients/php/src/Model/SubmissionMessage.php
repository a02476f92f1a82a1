<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One message of a submission.
 *
 * @phpstan-type SubmissionMessageFields array{
 *     id: string,
 *     to: string,
 *     kind: 'to'|'cc'|'bcc',
 *     state: 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled',
 * }
 */
final class SubmissionMessage implements \JsonSerializable
{
    /**
     * @param 'to'|'cc'|'bcc' $kind
     * @param 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled' $state
     */
    public function __construct(
        public readonly string $id,
        public readonly string $to,
        public readonly string $kind,
        public readonly string $state,
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
            id: $read->string('id'),
            to: $read->string('to'),
            kind: $read->string('kind'),
            state: $read->string('state'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return SubmissionMessageFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'to' => $this->to,
            'kind' => $this->kind,
            'state' => $this->state,
        ];
    }

    /**
     * @return SubmissionMessageFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
