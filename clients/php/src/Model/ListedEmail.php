<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One message to one recipient, as emails->list() shows it.
 *
 * @phpstan-type ListedEmailFields array{
 *     id: string,
 *     submission_id: string,
 *     state: 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled',
 *     from: string,
 *     to: string,
 *     subject: string,
 *     created_at: string,
 *     tags: array<array-key, string>|null,
 *     metadata: array<array-key, string>|null,
 *     header_message_id: string|null,
 * }
 */
final class ListedEmail implements \JsonSerializable
{
    /**
     * @param 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled' $state
     * @param array<array-key, string>|null $tags null where the call gave none
     * @param array<array-key, string>|null $metadata null where the call gave none
     * @param string|null $headerMessageId the Message-ID of a mail that was handed in by SMTP
     */
    public function __construct(
        public readonly string $id,
        public readonly string $submissionId,
        public readonly string $state,
        public readonly string $from,
        public readonly string $to,
        public readonly string $subject,
        public readonly string $createdAt,
        public readonly ?array $tags,
        public readonly ?array $metadata,
        public readonly ?string $headerMessageId = null,
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
            submissionId: $read->string('submission_id'),
            state: $read->string('state'),
            from: $read->string('from'),
            to: $read->string('to'),
            subject: $read->string('subject'),
            createdAt: $read->string('created_at'),
            tags: $read->map('tags'),
            metadata: $read->map('metadata'),
            headerMessageId: $read->stringOrNull('header_message_id'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return ListedEmailFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'submission_id' => $this->submissionId,
            'state' => $this->state,
            'from' => $this->from,
            'to' => $this->to,
            'subject' => $this->subject,
            'created_at' => $this->createdAt,
            'tags' => $this->tags,
            'metadata' => $this->metadata,
            'header_message_id' => $this->headerMessageId,
        ];
    }

    /**
     * @return ListedEmailFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
