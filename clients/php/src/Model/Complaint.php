<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * With `email.complained`.
 *
 * @phpstan-type ComplaintFields array{
 *     feedback_type: string,
 *     source: string,
 *     user_agent: string|null,
 *     arrival_date: string|null,
 *     reported_domain: string|null,
 *     suppressed: bool,
 * }
 */
final class Complaint implements \JsonSerializable
{
    public function __construct(
        public readonly string $feedbackType,
        public readonly string $source,
        public readonly ?string $userAgent,
        public readonly ?string $arrivalDate,
        public readonly ?string $reportedDomain,
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
            feedbackType: $read->string('feedback_type'),
            source: $read->string('source'),
            userAgent: $read->stringOrNull('user_agent'),
            arrivalDate: $read->stringOrNull('arrival_date'),
            reportedDomain: $read->stringOrNull('reported_domain'),
            suppressed: $read->bool('suppressed'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return ComplaintFields
     */
    public function toArray(): array
    {
        return [
            'feedback_type' => $this->feedbackType,
            'source' => $this->source,
            'user_agent' => $this->userAgent,
            'arrival_date' => $this->arrivalDate,
            'reported_domain' => $this->reportedDomain,
            'suppressed' => $this->suppressed,
        ];
    }

    /**
     * @return ComplaintFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
