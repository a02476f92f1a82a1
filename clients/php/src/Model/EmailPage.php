<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A page of messages. When it is not complete, the search stopped before the page was full.
 *
 * @phpstan-import-type ListedEmailFields from ListedEmail
 * @phpstan-type EmailPageFields array{
 *     emails: list<ListedEmailFields>,
 *     has_more: bool,
 *     complete: bool,
 *     next: string|null,
 * }
 */
final class EmailPage implements \JsonSerializable
{
    /**
     * @param list<ListedEmail> $emails
     * @param string|null $next what to pass as `after`; null at the end
     */
    public function __construct(
        public readonly array $emails,
        public readonly bool $hasMore,
        public readonly bool $complete,
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
            emails: $read->list('emails', ListedEmail::fromArray(...)),
            hasMore: $read->bool('has_more'),
            complete: $read->bool('complete'),
            next: $read->stringOrNull('next'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return EmailPageFields
     */
    public function toArray(): array
    {
        return [
            'emails' => Fields::plain($this->emails),
            'has_more' => $this->hasMore,
            'complete' => $this->complete,
            'next' => $this->next,
        ];
    }

    /**
     * @return EmailPageFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
