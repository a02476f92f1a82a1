<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What happened, in total and by day or hour, oldest first.
 *
 * @phpstan-import-type FiguresFields from Figures
 * @phpstan-type StatsFields array{
 *     from: string,
 *     to: string,
 *     by: 'hour'|'day',
 *     tag: string|null,
 *     complete: bool|null,
 *     total: FiguresFields,
 *     steps: list<array<string, string|int>>,
 * }
 */
final class Stats implements \JsonSerializable
{
    /**
     * @param 'hour'|'day' $by
     * @param bool|null $complete of a tag: false if it was not counted on some day, which had too many
     * @param list<StatsStep> $steps
     */
    public function __construct(
        public readonly string $from,
        public readonly string $to,
        public readonly string $by,
        public readonly ?string $tag,
        public readonly ?bool $complete,
        public readonly Figures $total,
        public readonly array $steps,
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
            from: $read->string('from'),
            to: $read->string('to'),
            by: $read->string('by'),
            tag: $read->stringOrNull('tag'),
            complete: $read->boolOrNull('complete'),
            total: $read->object('total', Figures::fromArray(...)) ?? Figures::fromArray([]),
            steps: $read->list('steps', StatsStep::fromArray(...)),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return StatsFields
     */
    public function toArray(): array
    {
        return [
            'from' => $this->from,
            'to' => $this->to,
            'by' => $this->by,
            'tag' => $this->tag,
            'complete' => $this->complete,
            'total' => $this->total->toArray(),
            'steps' => Fields::plain($this->steps),
        ];
    }

    /**
     * @return StatsFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
