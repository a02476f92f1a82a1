<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Fields;
use Postrider\Internal\Transport;
use Postrider\Model\Domain;

/**
 * Sending domains.
 */
final class Domains
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Registers a domain; the answer has the DNS records to publish.
     *
     * @param string|null $selector the DKIM selector, if you want one of your own
     *
     * @throws PostriderException
     */
    public function create(string $domain, ?string $selector = null): Domain
    {
        return Domain::fromArray($this->transport->post('/domains', ['domain' => $domain, 'selector' => $selector]));
    }

    /**
     * @return list<Domain> oldest first
     *
     * @throws PostriderException
     */
    public function list(): array
    {
        return (new Fields($this->transport->get('/domains')))->list('domains', Domain::fromArray(...));
    }

    /**
     * @throws PostriderException
     */
    public function get(string $id): Domain
    {
        return Domain::fromArray($this->transport->get('/domains/' . Transport::segment($id)));
    }

    /**
     * Looks at the DNS records. When one is missing or wrong, the ValidationError has the code `verification_failed`,
     * a domain and a check.
     *
     * @throws PostriderException
     */
    public function verify(string $id): Domain
    {
        return Domain::fromArray($this->transport->post('/domains/' . Transport::segment($id) . '/verify', null));
    }

    /**
     * Revokes a domain: nothing can be sent from it any more.
     *
     * @return Domain in its last state
     *
     * @throws PostriderException
     */
    public function delete(string $id): Domain
    {
        return Domain::fromArray($this->transport->delete('/domains/' . Transport::segment($id)));
    }
}
