<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What became of one email of a batch: accepted, with the fields of a SendResult, or refused, with error and message.
 * The fields of the other kind are null or empty.
 *
 * @phpstan-import-type RejectedRecipientFields from RejectedRecipient
 * @phpstan-type BatchedEmailFields array{
 *     id: string|null,
 *     message_ids: list<string>,
 *     rejected: list<RejectedRecipientFields>,
 *     replayed: bool|null,
 *     error: string|null,
 *     message: string|null,
 * }
 */
final class BatchedEmail implements \JsonSerializable
{
    /**
     * @param list<string> $messageIds in the order of `to`, `cc` and `bcc`
     * @param list<RejectedRecipient> $rejected
     * @param string|null $error the code of the refusal; null: it was accepted
     */
    public function __construct(
        public readonly ?string $id,
        public readonly array $messageIds,
        public readonly array $rejected,
        public readonly ?bool $replayed,
        public readonly ?string $error,
        public readonly ?string $message,
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
            id: $read->stringOrNull('id'),
            messageIds: $read->strings('message_ids'),
            rejected: $read->list('rejected', RejectedRecipient::fromArray(...)),
            replayed: $read->boolOrNull('replayed'),
            error: $read->stringOrNull('error'),
            message: $read->stringOrNull('message'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return BatchedEmailFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'message_ids' => $this->messageIds,
            'rejected' => Fields::plain($this->rejected),
            'replayed' => $this->replayed,
            'error' => $this->error,
            'message' => $this->message,
        ];
    }

    /**
     * @return BatchedEmailFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
