<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One call of emails->send(), and what became of its messages.
 *
 * @phpstan-import-type RejectedRecipientFields from RejectedRecipient
 * @phpstan-import-type SubmissionMessageFields from SubmissionMessage
 * @phpstan-type SubmissionFields array{
 *     id: string,
 *     created_at: string,
 *     send_at: string|null,
 *     from: string,
 *     subject: string,
 *     tags: array<array-key, string>|null,
 *     metadata: array<array-key, string>|null,
 *     messages: list<SubmissionMessageFields>,
 *     rejected: list<RejectedRecipientFields>,
 *     source: 'smtp'|null,
 *     header_message_id: string|null,
 * }
 */
final class Submission implements \JsonSerializable
{
    /**
     * @param string|null $sendAt null: at once
     * @param array<array-key, string>|null $tags null where the call gave none
     * @param array<array-key, string>|null $metadata null where the call gave none
     * @param list<SubmissionMessage> $messages in the order of `to`, `cc` and `bcc`
     * @param list<RejectedRecipient> $rejected
     * @param 'smtp'|null $source null: it was handed in by HTTP
     * @param string|null $headerMessageId the Message-ID of a mail that was handed in by SMTP
     */
    public function __construct(
        public readonly string $id,
        public readonly string $createdAt,
        public readonly ?string $sendAt,
        public readonly string $from,
        public readonly string $subject,
        public readonly ?array $tags,
        public readonly ?array $metadata,
        public readonly array $messages,
        public readonly array $rejected,
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
            createdAt: $read->string('created_at'),
            sendAt: $read->stringOrNull('send_at'),
            from: $read->string('from'),
            subject: $read->string('subject'),
            tags: $read->map('tags'),
            metadata: $read->map('metadata'),
            messages: $read->list('messages', SubmissionMessage::fromArray(...)),
            rejected: $read->list('rejected', RejectedRecipient::fromArray(...)),
            source: $read->stringOrNull('source'),
            headerMessageId: $read->stringOrNull('header_message_id'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return SubmissionFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'created_at' => $this->createdAt,
            'send_at' => $this->sendAt,
            'from' => $this->from,
            'subject' => $this->subject,
            'tags' => $this->tags,
            'metadata' => $this->metadata,
            'messages' => Fields::plain($this->messages),
            'rejected' => Fields::plain($this->rejected),
            'source' => $this->source,
            'header_message_id' => $this->headerMessageId,
        ];
    }

    /**
     * @return SubmissionFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
