<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\Transport;
use Postrider\Model\Submission;

/**
 * Calls of emails->send(), with all their messages.
 */
final class Submissions
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * One call with the states of its messages.
     *
     * @param string $id of a SendResult
     *
     * @throws PostriderException
     */
    public function get(string $id): Submission
    {
        return Submission::fromArray($this->transport->get('/submissions/' . Transport::segment($id)));
    }
}
