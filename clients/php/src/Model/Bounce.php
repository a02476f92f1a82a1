<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.bounced` and `email.failed`.
 *
 * @phpstan-type BounceFields array{
 *     type: 'hard'|'soft'|'block',
 *     source: 'smtp'|'dsn',
 *     smtp_code: int|null,
 *     enhanced_code: string|null,
 *     diagnostic: string|null,
 *     mx: string|null,
 *     reporting_mta: string|null,
 *     attempt: int,
 *     suppressed: bool,
 * }
 */
final class Bounce implements \JsonSerializable
{
    /**
     * @param 'hard'|'soft'|'block' $type
     * @param 'smtp'|'dsn' $source
     */
    public function __construct(
        public readonly string $type,
        public readonly string $source,
        public readonly ?int $smtpCode,
        public readonly ?string $enhancedCode,
        public readonly ?string $diagnostic,
        public readonly ?string $mx,
        public readonly ?string $reportingMta,
        public readonly int $attempt,
        public readonly bool $suppressed,
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
            type: $read->string('type'),
            source: $read->string('source'),
            smtpCode: $read->intOrNull('smtp_code'),
            enhancedCode: $read->stringOrNull('enhanced_code'),
            diagnostic: $read->stringOrNull('diagnostic'),
            mx: $read->stringOrNull('mx'),
            reportingMta: $read->stringOrNull('reporting_mta'),
            attempt: $read->int('attempt'),
            suppressed: $read->bool('suppressed'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return BounceFields
     */
    public function toArray(): array
    {
        return [
            'type' => $this->type,
            'source' => $this->source,
            'smtp_code' => $this->smtpCode,
            'enhanced_code' => $this->enhancedCode,
            'diagnostic' => $this->diagnostic,
            'mx' => $this->mx,
            'reporting_mta' => $this->reportingMta,
            'attempt' => $this->attempt,
            'suppressed' => $this->suppressed,
        ];
    }

    /**
     * @return BounceFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
