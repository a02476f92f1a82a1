<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * An entry of an import that cannot be used.
 *
 * @phpstan-type RefusedSuppressionFields array{
 *     index: int|null,
 *     line: int|null,
 *     message: string,
 * }
 */
final class RefusedSuppression implements \JsonSerializable
{
    /**
     * @param int|null $index in the addresses, from 0
     * @param int|null $line of the CSV, from 1
     */
    public function __construct(
        public readonly ?int $index,
        public readonly ?int $line,
        public readonly string $message,
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
            index: $read->intOrNull('index'),
            line: $read->intOrNull('line'),
            message: $read->string('message'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return RefusedSuppressionFields
     */
    public function toArray(): array
    {
        return [
            'index' => $this->index,
            'line' => $this->line,
            'message' => $this->message,
        ];
    }

    /**
     * @return RefusedSuppressionFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
