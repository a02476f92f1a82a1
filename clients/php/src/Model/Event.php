<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One recipient's one fact, as events->list(), emails->get() and the webhooks tell it.
 *
 * The types are `email.delivered`, `email.deferred`, `email.canceled`, `email.bounced`, `email.failed`,
 * `email.complained`, `email.opened`, `email.clicked` and, from webhooks->test(), `test`; there may be more in later
 * versions.
 */
final class Event implements \JsonSerializable
{
    /**
     * @param array<mixed> $raw the parsed JSON with everything in it, what this version does not know included
     */
    public function __construct(
        public readonly string $id,
        public readonly string $type,
        public readonly string $family,
        public readonly string $timestamp,
        public readonly EventData $data,
        public readonly array $raw,
    ) {
    }

    /**
     * @param array<mixed> $fields a parsed event
     */
    public static function fromArray(array $fields): self
    {
        $read = new Fields($fields);

        return new self(
            id: $read->string('id'),
            type: $read->string('type'),
            family: $read->string('family'),
            timestamp: $read->string('timestamp'),
            data: $read->object('data', EventData::fromArray(...)) ?? EventData::fromArray([]),
            raw: $fields,
        );
    }

    /**
     * The fields as the service wrote them.
     *
     * @return array<mixed>
     */
    public function toArray(): array
    {
        return $this->raw;
    }

    /**
     * @return array<mixed>
     */
    public function jsonSerialize(): array
    {
        return $this->raw;
    }
}
