<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * The IDs of the messages that are canceled, and of those for which it was too late.
 *
 * @phpstan-type CanceledSubmissionFields array{
 *     canceled: list<string>,
 *     too_late: list<string>,
 * }
 */
final class CanceledSubmission implements \JsonSerializable
{
    /**
     * @param list<string> $canceled
     * @param list<string> $tooLate
     */
    public function __construct(
        public readonly array $canceled,
        public readonly array $tooLate,
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
            canceled: $read->strings('canceled'),
            tooLate: $read->strings('too_late'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return CanceledSubmissionFields
     */
    public function toArray(): array
    {
        return [
            'canceled' => $this->canceled,
            'too_late' => $this->tooLate,
        ];
    }

    /**
     * @return CanceledSubmissionFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
