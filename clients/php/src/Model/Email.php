<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One message to one recipient, and what happened to it.
 *
 * @phpstan-type EmailFields array{
 *     id: string,
 *     submission_id: string,
 *     state: 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled',
 *     from: string,
 *     to: string,
 *     subject: string,
 *     created_at: string,
 *     events: list<array<mixed>>,
 *     tags: array<array-key, string>|null,
 *     metadata: array<array-key, string>|null,
 *     source: 'smtp'|null,
 *     header_message_id: string|null,
 * }
 */
final class Email implements \JsonSerializable
{
    /**
     * @param 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled' $state
     * @param list<Event> $events
     * @param array<array-key, string>|null $tags null where the call gave none
     * @param array<array-key, string>|null $metadata null where the call gave none
     * @param 'smtp'|null $source null: it was handed in by HTTP
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
        public readonly array $events,
        public readonly ?array $tags = null,
        public readonly ?array $metadata = null,
        public readonly ?string $source = null,
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
            events: $read->list('events', Event::fromArray(...)),
            tags: $read->map('tags'),
            metadata: $read->map('metadata'),
            source: $read->stringOrNull('source'),
            headerMessageId: $read->stringOrNull('header_message_id'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return EmailFields
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
            'events' => Fields::plain($this->events),
            'tags' => $this->tags,
            'metadata' => $this->metadata,
            'source' => $this->source,
            'header_message_id' => $this->headerMessageId,
        ];
    }

    /**
     * @return EmailFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
