<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What an event is about; of delivery, bounce, complaint, open, click, cancellation and test the one is set that the
 * event's type has.
 *
 * @phpstan-import-type BounceFields from Bounce
 * @phpstan-import-type CancellationFields from Cancellation
 * @phpstan-import-type ClickFields from Click
 * @phpstan-import-type ComplaintFields from Complaint
 * @phpstan-import-type DeliveryFields from Delivery
 * @phpstan-import-type OpenFields from Open
 * @phpstan-import-type TestNoteFields from TestNote
 * @phpstan-type EventDataFields array{
 *     message_id: string,
 *     submission_id: string,
 *     from: string,
 *     to: string,
 *     subject: string,
 *     domain: string,
 *     delivery: DeliveryFields|null,
 *     bounce: BounceFields|null,
 *     complaint: ComplaintFields|null,
 *     open: OpenFields|null,
 *     click: ClickFields|null,
 *     tags: array<array-key, string>|null,
 *     metadata: array<array-key, string>|null,
 *     cancellation: CancellationFields|null,
 *     test: TestNoteFields|null,
 *     header_message_id: string|null,
 * }
 */
final class EventData implements \JsonSerializable
{
    /**
     * @param array<array-key, string>|null $tags null where the call gave none
     * @param array<array-key, string>|null $metadata null where the call gave none
     * @param string|null $headerMessageId the Message-ID of a mail that was handed in by SMTP
     */
    public function __construct(
        public readonly string $messageId,
        public readonly string $submissionId,
        public readonly string $from,
        public readonly string $to,
        public readonly string $subject,
        public readonly string $domain,
        public readonly ?Delivery $delivery,
        public readonly ?Bounce $bounce,
        public readonly ?Complaint $complaint,
        public readonly ?Open $open,
        public readonly ?Click $click,
        public readonly ?array $tags = null,
        public readonly ?array $metadata = null,
        public readonly ?Cancellation $cancellation = null,
        public readonly ?TestNote $test = null,
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
            messageId: $read->string('message_id'),
            submissionId: $read->string('submission_id'),
            from: $read->string('from'),
            to: $read->string('to'),
            subject: $read->string('subject'),
            domain: $read->string('domain'),
            delivery: $read->object('delivery', Delivery::fromArray(...)),
            bounce: $read->object('bounce', Bounce::fromArray(...)),
            complaint: $read->object('complaint', Complaint::fromArray(...)),
            open: $read->object('open', Open::fromArray(...)),
            click: $read->object('click', Click::fromArray(...)),
            tags: $read->map('tags'),
            metadata: $read->map('metadata'),
            cancellation: $read->object('cancellation', Cancellation::fromArray(...)),
            test: $read->object('test', TestNote::fromArray(...)),
            headerMessageId: $read->stringOrNull('header_message_id'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return EventDataFields
     */
    public function toArray(): array
    {
        return [
            'message_id' => $this->messageId,
            'submission_id' => $this->submissionId,
            'from' => $this->from,
            'to' => $this->to,
            'subject' => $this->subject,
            'domain' => $this->domain,
            'delivery' => $this->delivery?->toArray(),
            'bounce' => $this->bounce?->toArray(),
            'complaint' => $this->complaint?->toArray(),
            'open' => $this->open?->toArray(),
            'click' => $this->click?->toArray(),
            'tags' => $this->tags,
            'metadata' => $this->metadata,
            'cancellation' => $this->cancellation?->toArray(),
            'test' => $this->test?->toArray(),
            'header_message_id' => $this->headerMessageId,
        ];
    }

    /**
     * @return EventDataFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
