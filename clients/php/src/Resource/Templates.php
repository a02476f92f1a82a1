<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Fields;
use Postrider\Internal\Transport;
use Postrider\Model\Template;

/**
 * Stored templates in Liquid.
 */
final class Templates
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Stores a template of html, text or both.
     *
     * @param string|null $subject Liquid, for messages without a subject of their own
     *
     * @throws PostriderException
     */
    public function create(
        string $name,
        ?string $html = null,
        ?string $text = null,
        ?string $subject = null,
    ): Template {
        $body = ['name' => $name, 'html' => $html, 'text' => $text, 'subject' => $subject];

        return Template::fromArray($this->transport->post('/templates', $body));
    }

    /**
     * Replaces name, html, text and subject: a part that is not given is gone afterwards.
     *
     * @throws PostriderException
     */
    public function update(
        string $id,
        string $name,
        ?string $html = null,
        ?string $text = null,
        ?string $subject = null,
    ): Template {
        $body = ['name' => $name, 'html' => $html, 'text' => $text, 'subject' => $subject];

        return Template::fromArray($this->transport->put('/templates/' . Transport::segment($id), $body));
    }

    /**
     * @return list<Template> oldest first
     *
     * @throws PostriderException
     */
    public function list(): array
    {
        return (new Fields($this->transport->get('/templates')))->list('templates', Template::fromArray(...));
    }

    /**
     * @throws PostriderException
     */
    public function get(string $id): Template
    {
        return Template::fromArray($this->transport->get('/templates/' . Transport::segment($id)));
    }

    /**
     * @throws PostriderException
     */
    public function delete(string $id): void
    {
        $this->transport->remove('/templates/' . Transport::segment($id));
    }
}
