<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * The encryption of a delivery; policy is what the recipient's domain demands.
 *
 * @phpstan-type TlsFields array{
 *     version: string,
 *     cipher: string,
 *     verified: bool,
 *     policy: 'none'|'testing'|'enforce',
 * }
 */
final class Tls implements \JsonSerializable
{
    /**
     * @param 'none'|'testing'|'enforce' $policy
     */
    public function __construct(
        public readonly string $version,
        public readonly string $cipher,
        public readonly bool $verified,
        public readonly string $policy,
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
            version: $read->string('version'),
            cipher: $read->string('cipher'),
            verified: $read->bool('verified'),
            policy: $read->string('policy'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return TlsFields
     */
    public function toArray(): array
    {
        return [
            'version' => $this->version,
            'cipher' => $this->cipher,
            'verified' => $this->verified,
            'policy' => $this->policy,
        ];
    }

    /**
     * @return TlsFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
