<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * The answer to a batch, in the order of its emails.
 *
 * @phpstan-import-type BatchedEmailFields from BatchedEmail
 * @phpstan-type BatchResultFields array{
 *     results: list<BatchedEmailFields>,
 * }
 */
final class BatchResult implements \JsonSerializable
{
    /**
     * @param list<BatchedEmail> $results
     */
    public function __construct(
        public readonly array $results,
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
            results: $read->list('results', BatchedEmail::fromArray(...)),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return BatchResultFields
     */
    public function toArray(): array
    {
        return [
            'results' => Fields::plain($this->results),
        ];
    }

    /**
     * @return BatchResultFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
