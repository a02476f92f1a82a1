<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A part of the list of events; when hasMore is true, ask again after the id of the last one.
 *
 * @phpstan-type EventPageFields array{
 *     events: list<array<mixed>>,
 *     has_more: bool,
 * }
 */
final class EventPage implements \JsonSerializable
{
    /**
     * @param list<Event> $events
     */
    public function __construct(
        public readonly array $events,
        public readonly bool $hasMore,
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
            events: $read->list('events', Event::fromArray(...)),
            hasMore: $read->bool('has_more'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return EventPageFields
     */
    public function toArray(): array
    {
        return [
            'events' => Fields::plain($this->events),
            'has_more' => $this->hasMore,
        ];
    }

    /**
     * @return EventPageFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
