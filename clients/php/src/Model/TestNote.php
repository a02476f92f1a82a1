<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `test`: says that it is only a test.
 *
 * @phpstan-type TestNoteFields array{
 *     message: string,
 * }
 */
final class TestNote implements \JsonSerializable
{
    public function __construct(
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
            message: $read->string('message'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return TestNoteFields
     */
    public function toArray(): array
    {
        return [
            'message' => $this->message,
        ];
    }

    /**
     * @return TestNoteFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
