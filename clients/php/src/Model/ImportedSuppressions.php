<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What came of an import; refusals has the first 100 that were refused.
 *
 * @phpstan-import-type RefusedSuppressionFields from RefusedSuppression
 * @phpstan-type ImportedSuppressionsFields array{
 *     added: int,
 *     known: int,
 *     refused: int,
 *     refusals: list<RefusedSuppressionFields>,
 *     ignored_columns: list<string>,
 * }
 */
final class ImportedSuppressions implements \JsonSerializable
{
    /**
     * @param int $known on the list already
     * @param list<RefusedSuppression> $refusals
     * @param list<string> $ignoredColumns columns of the CSV that are not understood, and were not imported
     */
    public function __construct(
        public readonly int $added,
        public readonly int $known,
        public readonly int $refused,
        public readonly array $refusals,
        public readonly array $ignoredColumns,
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
            added: $read->int('added'),
            known: $read->int('known'),
            refused: $read->int('refused'),
            refusals: $read->list('refusals', RefusedSuppression::fromArray(...)),
            ignoredColumns: $read->strings('ignored_columns'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return ImportedSuppressionsFields
     */
    public function toArray(): array
    {
        return [
            'added' => $this->added,
            'known' => $this->known,
            'refused' => $this->refused,
            'refusals' => Fields::plain($this->refusals),
            'ignored_columns' => $this->ignoredColumns,
        ];
    }

    /**
     * @return ImportedSuppressionsFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
