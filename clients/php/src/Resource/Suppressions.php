<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Transport;
use Postrider\Model\ImportedSuppressions;
use Postrider\Model\Suppression;
use Postrider\Model\SuppressionPage;

/**
 * Addresses that get no mail from the account. Changing the list needs a key with the scope `suppressions:write`.
 */
final class Suppressions
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * In alphabetical order. Pass the page's `next` as `after` until hasMore is false.
     *
     * @param 'hard_bounce'|'complaint'|'unsubscribe'|'manual'|null $reason
     * @param int|null $limit 1 to 1,000; 100 when not given
     *
     * @throws PostriderException
     */
    public function list(
        ?string $address = null,
        ?string $reason = null,
        ?string $after = null,
        ?int $limit = null,
    ): SuppressionPage {
        $query = ['address' => $address, 'reason' => $reason, 'after' => $after, 'limit' => $limit];

        return SuppressionPage::fromArray($this->transport->get('/suppressions', $query));
    }

    /**
     * An address that is on the list keeps its reason; the answer shows it.
     *
     * @param 'hard_bounce'|'complaint'|'unsubscribe'|'manual'|null $reason `manual` when not given
     *
     * @throws PostriderException
     */
    public function add(string $address, ?string $reason = null): Suppression
    {
        $body = ['address' => $address, 'reason' => $reason];

        return Suppression::fromArray($this->transport->post('/suppressions', $body));
    }

    /**
     * @throws PostriderException
     */
    public function remove(string $address): void
    {
        $wanted = 'address: must be a suppressed address, not empty.';
        $this->transport->remove('/suppressions/' . Transport::segment($address, $wanted));
    }

    /**
     * Adds up to 10,000 addresses. Give either addresses or csv.
     *
     * @param array<string>|null $addresses
     * @param string|null $csv the text of a file with the columns `address` and, if you like, `reason` and `created_at`
     * @param 'hard_bounce'|'complaint'|'unsubscribe'|'manual'|null $reason where the CSV has none
     *
     * @throws PostriderException
     */
    public function import(
        ?array $addresses = null,
        ?string $csv = null,
        ?string $reason = null,
    ): ImportedSuppressions {
        $list = $addresses === null ? null : \array_values($addresses);
        $body = ['addresses' => $list, 'csv' => $csv, 'reason' => $reason];

        return ImportedSuppressions::fromArray($this->transport->post('/suppressions/import', $body));
    }
}
