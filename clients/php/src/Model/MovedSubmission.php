<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * When the messages of a submission will be sent.
 *
 * @phpstan-type MovedSubmissionFields array{
 *     id: string,
 *     send_at: string,
 * }
 */
final class MovedSubmission implements \JsonSerializable
{
    public function __construct(
        public readonly string $id,
        public readonly string $sendAt,
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
            sendAt: $read->string('send_at'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return MovedSubmissionFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'send_at' => $this->sendAt,
        ];
    }

    /**
     * @return MovedSubmissionFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
