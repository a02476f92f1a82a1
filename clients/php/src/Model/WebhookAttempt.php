<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * One attempt to send an event to a webhook.
 *
 * @phpstan-type WebhookAttemptFields array{
 *     number: int,
 *     started_at: string,
 *     elapsed_ms: int,
 *     status: int|null,
 *     reason: string,
 *     answer: string|null,
 * }
 */
final class WebhookAttempt implements \JsonSerializable
{
    /**
     * @param int|null $status null without an answer
     * @param string $reason the outcome, as a sentence
     * @param string|null $answer the first 4 KiB
     */
    public function __construct(
        public readonly int $number,
        public readonly string $startedAt,
        public readonly int $elapsedMs,
        public readonly ?int $status,
        public readonly string $reason,
        public readonly ?string $answer,
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
            number: $read->int('number'),
            startedAt: $read->string('started_at'),
            elapsedMs: $read->int('elapsed_ms'),
            status: $read->intOrNull('status'),
            reason: $read->string('reason'),
            answer: $read->stringOrNull('answer'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return WebhookAttemptFields
     */
    public function toArray(): array
    {
        return [
            'number' => $this->number,
            'started_at' => $this->startedAt,
            'elapsed_ms' => $this->elapsedMs,
            'status' => $this->status,
            'reason' => $this->reason,
            'answer' => $this->answer,
        ];
    }

    /**
     * @return WebhookAttemptFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
