<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * A sending domain. Only Domains::verify() answers checks.
 *
 * @phpstan-import-type DnsRecordFields from DnsRecord
 * @phpstan-import-type DomainCheckFields from DomainCheck
 * @phpstan-type DomainFields array{
 *     id: string,
 *     domain: string,
 *     state: 'pending'|'verified'|'failed'|'revoked',
 *     dkim_selector: string,
 *     dkim_public_key_b64: string,
 *     created_at: string,
 *     failure_reason: string|null,
 *     verified_at: string|null,
 *     last_checked_at: string|null,
 *     records: list<DnsRecordFields>,
 *     checks: list<DomainCheckFields>,
 * }
 */
final class Domain implements \JsonSerializable
{
    /**
     * @param 'pending'|'verified'|'failed'|'revoked' $state
     * @param list<DnsRecord> $records
     * @param list<DomainCheck> $checks
     */
    public function __construct(
        public readonly string $id,
        public readonly string $domain,
        public readonly string $state,
        public readonly string $dkimSelector,
        public readonly string $dkimPublicKeyB64,
        public readonly string $createdAt,
        public readonly ?string $failureReason,
        public readonly ?string $verifiedAt,
        public readonly ?string $lastCheckedAt,
        public readonly array $records,
        public readonly array $checks,
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
            domain: $read->string('domain'),
            state: $read->string('state'),
            dkimSelector: $read->string('dkim_selector'),
            dkimPublicKeyB64: $read->string('dkim_public_key_b64'),
            createdAt: $read->string('created_at'),
            failureReason: $read->stringOrNull('failure_reason'),
            verifiedAt: $read->stringOrNull('verified_at'),
            lastCheckedAt: $read->stringOrNull('last_checked_at'),
            records: $read->list('records', DnsRecord::fromArray(...)),
            checks: $read->list('checks', DomainCheck::fromArray(...)),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return DomainFields
     */
    public function toArray(): array
    {
        return [
            'id' => $this->id,
            'domain' => $this->domain,
            'state' => $this->state,
            'dkim_selector' => $this->dkimSelector,
            'dkim_public_key_b64' => $this->dkimPublicKeyB64,
            'created_at' => $this->createdAt,
            'failure_reason' => $this->failureReason,
            'verified_at' => $this->verifiedAt,
            'last_checked_at' => $this->lastCheckedAt,
            'records' => Fields::plain($this->records),
            'checks' => Fields::plain($this->checks),
        ];
    }

    /**
     * @return DomainFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
