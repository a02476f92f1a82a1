<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * The answer to a send; messageIds follow the order of `to`, `cc` and `bcc`, less what was rejected.
 *
 * @phpstan-import-type RejectedRecipientFields from RejectedRecipient
 * @phpstan-type SendResultFields array{
 *     id: string,
 *     message_ids: list<string>,
 *     rejected: list<RejectedRecipientFields>,
 *     replayed: bool,
 * }
 */
final class SendResult implements \JsonSerializable
{
    /**
     * @param list<string> $messageIds
     * @param list<RejectedRecipient> $rejected
     */
    public function __construct(
        public readonly string $id,
        public readonly array $messageIds,
        public readonly array $rejected,
        public readonly bool $replayed,
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
            messageIds: $read->strings('message_ids'),
            rejected: $read->list('rejected', RejectedRecipient::fromArray(...)),
            replayed: $read->bool('replayed'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return SendResultFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'message_ids' => $this->messageIds,
            'rejected' => Fields::plain($this->rejected),
            'replayed' => $this->replayed,
        ];
    }

    /**
     * @return SendResultFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
