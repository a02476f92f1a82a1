<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * An event that is sent again.
 *
 * @phpstan-type ReplayedDeliveryFields array{
 *     webhook_id: string,
 *     event_id: string,
 *     state: 'due',
 * }
 */
final class ReplayedDelivery implements \JsonSerializable
{
    /**
     * @param 'due' $state
     */
    public function __construct(
        public readonly string $webhookId,
        public readonly string $eventId,
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
            webhookId: $read->string('webhook_id'),
            eventId: $read->string('event_id'),
            state: $read->string('state'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return ReplayedDeliveryFields
     */
    public function toArray(): array
    {
        return [
            'webhook_id' => $this->webhookId,
            'event_id' => $this->eventId,
            'state' => $this->state,
        ];
    }

    /**
     * @return ReplayedDeliveryFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
