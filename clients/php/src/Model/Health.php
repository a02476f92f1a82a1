<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * Whether the server can work.
 *
 * @phpstan-type HealthFields array{
 *     status: 'ok'|'db_unreachable',
 * }
 */
final class Health implements \JsonSerializable
{
    /**
     * @param 'ok'|'db_unreachable' $status
     */
    public function __construct(
        public readonly string $status,
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
            status: $read->string('status'),
        );
    }

    public function isOk(): bool
    {
        return $this->status === 'ok';
    }

    /**
     * The fields as the service names them.
     *
     * @return HealthFields
     */
    public function toArray(): array
    {
        return [
            'status' => $this->status,
        ];
    }

    /**
     * @return HealthFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
