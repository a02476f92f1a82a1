<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * How often something happened in one day or hour.
 */
final class StatsStep implements \JsonSerializable
{
    public function __construct(
        public readonly string $start,
        public readonly Figures $figures,
    ) {
    }

    /**
     * A field that this version does not know is left out; one that is missing is empty.
     *
     * @param array<mixed> $fields a parsed answer
     */
    public static function fromArray(array $fields): self
    {
        return new self(start: (new Fields($fields))->string('start'), figures: Figures::fromArray($fields));
    }

    /**
     * The fields as the service names them.
     *
     * @return array<string, string|int>
     */
    public function toArray(): array
    {
        return ['start' => $this->start] + $this->figures->toArray();
    }

    /**
     * @return array<string, string|int>
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
