<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A stored template; html, text and subject are Liquid.
 *
 * @phpstan-type TemplateFields array{
 *     id: string,
 *     name: string,
 *     html: string|null,
 *     text: string|null,
 *     created_at: string,
 *     updated_at: string,
 *     subject: string|null,
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
        public readonly ?string $subject = null,
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
            subject: $read->stringOrNull('subject'),
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
            'subject' => $this->subject,
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
