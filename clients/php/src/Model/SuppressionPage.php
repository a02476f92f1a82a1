<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A page of suppressed addresses.
 *
 * @phpstan-import-type SuppressionFields from Suppression
 * @phpstan-type SuppressionPageFields array{
 *     suppressions: list<SuppressionFields>,
 *     has_more: bool,
 *     next: string|null,
 * }
 */
final class SuppressionPage implements \JsonSerializable
{
    /**
     * @param list<Suppression> $suppressions
     * @param string|null $next what to pass as `after`; null at the end
     */
    public function __construct(
        public readonly array $suppressions,
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
            suppressions: $read->list('suppressions', Suppression::fromArray(...)),
            hasMore: $read->bool('has_more'),
            next: $read->stringOrNull('next'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return SuppressionPageFields
     */
    public function toArray(): array
    {
        return [
            'suppressions' => Fields::plain($this->suppressions),
            'has_more' => $this->hasMore,
            'next' => $this->next,
        ];
    }

    /**
     * @return SuppressionPageFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
