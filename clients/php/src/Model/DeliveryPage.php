<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A page of what a webhook was sent or is to be sent.
 *
 * @phpstan-import-type WebhookDeliveryFields from WebhookDelivery
 * @phpstan-type DeliveryPageFields array{
 *     deliveries: list<WebhookDeliveryFields>,
 *     has_more: bool,
 *     next: string|null,
 * }
 */
final class DeliveryPage implements \JsonSerializable
{
    /**
     * @param list<WebhookDelivery> $deliveries
     * @param string|null $next what to pass as `after`; null at the end
     */
    public function __construct(
        public readonly array $deliveries,
        public readonly bool $hasMore,
        public readonly ?string $next,
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
            deliveries: $read->list('deliveries', WebhookDelivery::fromArray(...)),
            hasMore: $read->bool('has_more'),
            next: $read->stringOrNull('next'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return DeliveryPageFields
     */
    public function toArray(): array
    {
        return [
            'deliveries' => Fields::plain($this->deliveries),
            'has_more' => $this->hasMore,
            'next' => $this->next,
        ];
    }

    /**
     * @return DeliveryPageFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
