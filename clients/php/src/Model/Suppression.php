<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * An address that gets no mail from the account.
 *
 * @phpstan-type SuppressionFields array{
 *     address: string,
 *     reason: 'hard_bounce'|'complaint'|'unsubscribe'|'manual',
 *     message_id: string|null,
 *     created_at: string,
 * }
 */
final class Suppression implements \JsonSerializable
{
    /**
     * @param 'hard_bounce'|'complaint'|'unsubscribe'|'manual' $reason
     * @param string|null $messageId the message that bounced, or that was complained about or unsubscribed from
     */
    public function __construct(
        public readonly string $address,
        public readonly string $reason,
        public readonly ?string $messageId,
        public readonly string $createdAt,
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
            address: $read->string('address'),
            reason: $read->string('reason'),
            messageId: $read->stringOrNull('message_id'),
            createdAt: $read->string('created_at'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return SuppressionFields
     */
    public function toArray(): array
    {
        return [
            'address' => $this->address,
            'reason' => $this->reason,
            'message_id' => $this->messageId,
            'created_at' => $this->createdAt,
        ];
    }

    /**
     * @return SuppressionFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
