<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.delivered` and `email.deferred`; nextAttemptAt with the latter only.
 *
 * @phpstan-import-type TlsFields from Tls
 * @phpstan-type DeliveryFields array{
 *     mx: string|null,
 *     remote_ip: string|null,
 *     smtp_code: int|null,
 *     enhanced_code: string|null,
 *     response: string,
 *     tls: TlsFields|null,
 *     attempt: int,
 *     elapsed_ms: int,
 *     next_attempt_at: string|null,
 * }
 */
final class Delivery implements \JsonSerializable
{
    public function __construct(
        public readonly ?string $mx,
        public readonly ?string $remoteIp,
        public readonly ?int $smtpCode,
        public readonly ?string $enhancedCode,
        public readonly string $response,
        public readonly ?Tls $tls,
        public readonly int $attempt,
        public readonly int $elapsedMs,
        public readonly ?string $nextAttemptAt,
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
            mx: $read->stringOrNull('mx'),
            remoteIp: $read->stringOrNull('remote_ip'),
            smtpCode: $read->intOrNull('smtp_code'),
            enhancedCode: $read->stringOrNull('enhanced_code'),
            response: $read->string('response'),
            tls: $read->object('tls', Tls::fromArray(...)),
            attempt: $read->int('attempt'),
            elapsedMs: $read->int('elapsed_ms'),
            nextAttemptAt: $read->stringOrNull('next_attempt_at'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return DeliveryFields
     */
    public function toArray(): array
    {
        return [
            'mx' => $this->mx,
            'remote_ip' => $this->remoteIp,
            'smtp_code' => $this->smtpCode,
            'enhanced_code' => $this->enhancedCode,
            'response' => $this->response,
            'tls' => $this->tls?->toArray(),
            'attempt' => $this->attempt,
            'elapsed_ms' => $this->elapsedMs,
            'next_attempt_at' => $this->nextAttemptAt,
        ];
    }

    /**
     * @return DeliveryFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
