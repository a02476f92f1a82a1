<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * What an endpoint answered to a test event.
 *
 * @phpstan-type WebhookTestFields array{
 *     accepted: bool,
 *     status: int|null,
 *     reason: string,
 *     answer: string|null,
 *     elapsed_ms: int,
 * }
 */
final class WebhookTest implements \JsonSerializable
{
    /**
     * @param bool $accepted whether it answered 2xx
     * @param int|null $status null without an answer
     * @param string $reason the outcome, as a sentence
     * @param string|null $answer the first 4 KiB
     */
    public function __construct(
        public readonly bool $accepted,
        public readonly ?int $status,
        public readonly string $reason,
        public readonly ?string $answer,
        public readonly int $elapsedMs,
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
            accepted: $read->bool('accepted'),
            status: $read->intOrNull('status'),
            reason: $read->string('reason'),
            answer: $read->stringOrNull('answer'),
            elapsedMs: $read->int('elapsed_ms'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return WebhookTestFields
     */
    public function toArray(): array
    {
        return [
            'accepted' => $this->accepted,
            'status' => $this->status,
            'reason' => $this->reason,
            'answer' => $this->answer,
            'elapsed_ms' => $this->elapsedMs,
        ];
    }

    /**
     * @return WebhookTestFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
