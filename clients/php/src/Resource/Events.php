<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Transport;
use Postrider\Model\EventPage;

/**
 * What happened to the messages, in the order in which it was stored.
 */
final class Events
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * @param string|null $after the id of the event after which to begin
     * @param int|null $limit 1 to 1,000; 100 when not given
     *
     * @throws PostriderException
     */
    public function list(?string $after = null, ?int $limit = null): EventPage
    {
        return EventPage::fromArray($this->transport->get('/events', ['after' => $after, 'limit' => $limit]));
    }
}
