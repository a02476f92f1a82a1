<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One event on its way to one webhook.
 *
 * @phpstan-import-type WebhookAttemptFields from WebhookAttempt
 * @phpstan-type WebhookDeliveryFields array{
 *     event_id: string,
 *     type: string,
 *     state: 'due'|'delivered'|'failed',
 *     attempts: int,
 *     next_attempt_at: string|null,
 *     finished_at: string|null,
 *     last_attempt: WebhookAttemptFields|null,
 * }
 */
final class WebhookDelivery implements \JsonSerializable
{
    /**
     * @param 'due'|'delivered'|'failed' $state
     * @param int $attempts over all replays
     * @param string|null $nextAttemptAt null when it has ended, or is in progress
     */
    public function __construct(
        public readonly string $eventId,
        public readonly string $type,
        public readonly string $state,
        public readonly int $attempts,
        public readonly ?string $nextAttemptAt,
        public readonly ?string $finishedAt,
        public readonly ?WebhookAttempt $lastAttempt,
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
            eventId: $read->string('event_id'),
            type: $read->string('type'),
            state: $read->string('state'),
            attempts: $read->int('attempts'),
            nextAttemptAt: $read->stringOrNull('next_attempt_at'),
            finishedAt: $read->stringOrNull('finished_at'),
            lastAttempt: $read->object('last_attempt', WebhookAttempt::fromArray(...)),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return WebhookDeliveryFields
     */
    public function toArray(): array
    {
        return [
            'event_id' => $this->eventId,
            'type' => $this->type,
            'state' => $this->state,
            'attempts' => $this->attempts,
            'next_attempt_at' => $this->nextAttemptAt,
            'finished_at' => $this->finishedAt,
            'last_attempt' => $this->lastAttempt?->toArray(),
        ];
    }

    /**
     * @return WebhookDeliveryFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
