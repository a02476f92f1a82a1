<?php

declare(strict_types=1);

namespace Postrider\Model;

use Postrider\Internal\Fields;

/**
 * How often something happened.
 *
 * @phpstan-type FiguresFields array{
 *     accepted: int,
 *     delivered: int,
 *     deferred: int,
 *     bounced_hard: int,
 *     bounced_soft: int,
 *     bounced_block: int,
 *     bounced_later: int,
 *     failed: int,
 *     canceled: int,
 *     complained: int,
 *     opened: int,
 *     opened_by_machine: int,
 *     clicked: int,
 * }
 */
final class Figures implements \JsonSerializable
{
    /**
     * @param int $bouncedLater after delivery; included in the three above
     * @param int $openedByMachine included in opened
     */
    public function __construct(
        public readonly int $accepted,
        public readonly int $delivered,
        public readonly int $deferred,
        public readonly int $bouncedHard,
        public readonly int $bouncedSoft,
        public readonly int $bouncedBlock,
        public readonly int $bouncedLater,
        public readonly int $failed,
        public readonly int $canceled,
        public readonly int $complained,
        public readonly int $opened,
        public readonly int $openedByMachine,
        public readonly int $clicked,
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
            accepted: $read->int('accepted'),
            delivered: $read->int('delivered'),
            deferred: $read->int('deferred'),
            bouncedHard: $read->int('bounced_hard'),
            bouncedSoft: $read->int('bounced_soft'),
            bouncedBlock: $read->int('bounced_block'),
            bouncedLater: $read->int('bounced_later'),
            failed: $read->int('failed'),
            canceled: $read->int('canceled'),
            complained: $read->int('complained'),
            opened: $read->int('opened'),
            openedByMachine: $read->int('opened_by_machine'),
            clicked: $read->int('clicked'),
        );
    }

    /**
     * The fields as the service names them.
     *
     * @return FiguresFields
     */
    public function toArray(): array
    {
        return [
            'accepted' => $this->accepted,
            'delivered' => $this->delivered,
            'deferred' => $this->deferred,
            'bounced_hard' => $this->bouncedHard,
            'bounced_soft' => $this->bouncedSoft,
            'bounced_block' => $this->bouncedBlock,
            'bounced_later' => $this->bouncedLater,
            'failed' => $this->failed,
            'canceled' => $this->canceled,
            'complained' => $this->complained,
            'opened' => $this->opened,
            'opened_by_machine' => $this->openedByMachine,
            'clicked' => $this->clicked,
        ];
    }

    /**
     * @return FiguresFields
     */
    public function jsonSerialize(): array
    {
        return $this->toArray();
    }
}
