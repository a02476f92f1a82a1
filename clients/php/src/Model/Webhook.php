<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * An endpoint for events. Only Webhooks::create() and rotate() answer the secret: store it, it is never shown again.
 *
 * @phpstan-type WebhookFields array{
 *     id: string,
 *     url: string,
 *     description: string|null,
 *     created_at: string,
 *     secret: string|null,
 *     events: list<string>|null,
 *     previous_until: string|null,
 * }
 */
final class Webhook implements \JsonSerializable
{
    /**
     * @param list<string>|null $events types and families of events; null: every event
     * @param string|null $previousUntil of rotate(): until then the secret before signs, too
     */
    public function __construct(
        public readonly string $id,
        public readonly string $url,
        public readonly ?string $description,
        public readonly string $createdAt,
        #[\SensitiveParameter]
        public readonly ?string $secret,
        public readonly ?array $events = null,
        public readonly ?string $previousUntil = null,
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
            url: $read->string('url'),
            description: $read->stringOrNull('description'),
            createdAt: $read->string('created_at'),
            secret: $read->stringOrNull('secret'),
            events: $read->stringsOrNull('events'),
            previousUntil: $read->stringOrNull('previous_until'),
        );
    }

    /**
     * The fields as the service names them, the secret included.
     *
     * @return WebhookFields
     */
    public function toArray(): array
    {
        return ['secret' => $this->secret] + $this->jsonSerialize();
    }

    /**
     * Without the secret: loggers write objects down as JSON.
     *
     * @return array<string, string|list<string>|null>
     */
    public function jsonSerialize(): array
    {
        return [
            'id' => $this->id,
            'url' => $this->url,
            'description' => $this->description,
            'created_at' => $this->createdAt,
            'events' => $this->events,
            'previous_until' => $this->previousUntil,
        ];
    }

    /**
     * @return array<string, string|list<string>|null>
     */
    public function __debugInfo(): array
    {
        return $this->jsonSerialize() + ['secret' => $this->secret === null ? null : '[hidden]'];
    }
}
