<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A stored template; html and text are Liquid.
 *
 * @phpstan-type TemplateFields array{
 *     id: string,
 *     name: string,
 *     html: string|null,
 *     text: string|null,
 *     created_at: string,
 *     updated_at: string,
 * }
 */
final class Template implements \JsonSerializable
{
    public function __construct(
        public readonly string $id,
        public readonly string $name,
        public readonly ?string $html,
        public readonly ?string $text,
        public readonly string $createdAt,
        public readonly string $updatedAt,
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
            name: $read->string('name'),
            html: $read->stringOrNull('html'),
            text: $read->stringOrNull('text'),
            createdAt: $read->string('created_at'),
            updatedAt: $read->string('updated_at'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return TemplateFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'name' => $this->name,
            'html' => $this->html,
            'text' => $this->text,
            'created_at' => $this->createdAt,
            'updated_at' => $this->updatedAt,
        ];
    }

    /**
     * @return TemplateFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
