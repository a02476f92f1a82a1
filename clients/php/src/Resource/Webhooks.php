<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Fields;
use Postrider\Internal\Transport;
use Postrider\Model\Webhook;

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
     * @throws PostriderException
     */
    public function create(string $url, ?string $description = null): Webhook
    {
        return Webhook::fromArray($this->transport->post('/webhooks', ['url' => $url, 'description' => $description]));
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
     * Removes an endpoint; what is still due for it is dropped.
     *
     * @throws PostriderException
     */
    public function delete(string $id): void
    {
        $this->transport->remove('/webhooks/' . Transport::segment($id));
    }
}
