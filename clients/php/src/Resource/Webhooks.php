<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Fields;
use Postrider\Internal\Transport;
use Postrider\Model\DeliveryPage;
use Postrider\Model\ReplayedDelivery;
use Postrider\Model\Webhook;
use Postrider\Model\WebhookTest;

/**
 * Endpoints that events are sent to.
 */
final class Webhooks
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Registers an endpoint; the answer has its secret, which is never shown again.
     *
     * @param array<string>|null $events types and families: `email.bounced`, `complaint`, …; null: every event
     *
     * @throws PostriderException
     */
    public function create(string $url, ?string $description = null, ?array $events = null): Webhook
    {
        $body = ['url' => $url, 'description' => $description, 'events' => self::listed($events)];

        return Webhook::fromArray($this->transport->post('/webhooks', $body));
    }

    /**
     * @return list<Webhook> oldest first
     *
     * @throws PostriderException
     */
    public function list(): array
    {
        return (new Fields($this->transport->get('/webhooks')))->list('webhooks', Webhook::fromArray(...));
    }

    /**
     * @throws PostriderException
     */
    public function get(string $id): Webhook
    {
        return Webhook::fromArray($this->transport->get('/webhooks/' . Transport::segment($id)));
    }

    /**
     * Changes an endpoint: what is not given stays as it is, and so does the secret.
     *
     * @param array<string>|null $events an empty array: every event
     *
     * @throws PostriderException
     */
    public function update(
        string $id,
        ?string $url = null,
        ?string $description = null,
        ?array $events = null,
    ): Webhook {
        $body = ['url' => $url, 'description' => $description, 'events' => self::listed($events)];

        return Webhook::fromArray($this->transport->patch('/webhooks/' . Transport::segment($id), $body));
    }

    /**
     * Removes an endpoint; what is still due for it is dropped.
     *
     * @throws PostriderException
     */
    public function delete(string $id): void
    {
        $this->transport->remove('/webhooks/' . Transport::segment($id));
    }

    /**
     * Makes a new secret, which is never shown again; for 24 hours the one before signs, too.
     *
     * It is tried again after a 429 only. After any other error the secret may be a new one, which nobody knows:
     * rotate it again. The secret that the receiver uses signs for the rest of its 24 hours.
     *
     * @throws PostriderException
     */
    public function rotate(string $id): Webhook
    {
        return Webhook::fromArray($this->transport->postOnce('/webhooks/' . Transport::segment($id) . '/rotate'));
    }

    /**
     * Sends an event of the type `test`, and says what the endpoint answered.
     *
     * @throws PostriderException
     */
    public function test(string $id): WebhookTest
    {
        return WebhookTest::fromArray($this->transport->post('/webhooks/' . Transport::segment($id) . '/test', null));
    }

    /**
     * What an endpoint was sent or is to be sent. Pass the page's `next` as `after`, with the same state, until hasMore
     * is false.
     *
     * @param 'due'|'delivered'|'failed'|null $state
     * @param int|null $limit 1 to 100; 25 when not given
     *
     * @throws PostriderException
     */
    public function deliveries(
        string $id,
        ?string $state = null,
        ?string $after = null,
        ?int $limit = null,
    ): DeliveryPage {
        $path = '/webhooks/' . Transport::segment($id) . '/deliveries';
        $query = ['state' => $state, 'after' => $after, 'limit' => $limit];

        return DeliveryPage::fromArray($this->transport->get($path, $query));
    }

    /**
     * Sends an event again, with the same ID.
     *
     * @throws PostriderException
     */
    public function replay(string $id, string $eventId): ReplayedDelivery
    {
        $wanted = 'eventId: must be the id of an event, not empty.';
        $event = Transport::segment($eventId, $wanted);
        $path = '/webhooks/' . Transport::segment($id) . "/deliveries/{$event}/replay";

        return ReplayedDelivery::fromArray($this->transport->post($path, null));
    }

    /**
     * @param array<string>|null $given
     *
     * @return list<string>|null
     */
    private static function listed(?array $given): ?array
    {
        return $given === null ? null : \array_values($given);
    }
}
