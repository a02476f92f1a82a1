<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * An endpoint for events. Only Webhooks::create() answers the secret: store it, it is never shown again.
 *
 * @phpstan-type WebhookFields array{
 *     id: string,
 *     url: string,
 *     description: string|null,
 *     created_at: string,
 *     secret: string|null,
 * }
 */
final class Webhook implements \JsonSerializable
{
    public function __construct(
        public readonly string $id,
        public readonly string $url,
        public readonly ?string $description,
        public readonly string $createdAt,
        #[\SensitiveParameter]
        public readonly ?string $secret,
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
     * @return array{id: string, url: string, description: string|null, created_at: string}
     */
    public function jsonSerialize(): array
    {
        return [
            'id' => $this->id,
            'url' => $this->url,
            'description' => $this->description,
            'created_at' => $this->createdAt,
        ];
    }

    /**
     * @return array<string, string|null>
     */
    public function __debugInfo(): array
    {
        return $this->jsonSerialize() + ['secret' => $this->secret === null ? null : '[hidden]'];
    }
}
