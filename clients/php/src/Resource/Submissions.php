<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Exception\PostriderException;
use Postrider\Internal\MessageBody;
use Postrider\Internal\Transport;
use Postrider\Model\CanceledSubmission;
use Postrider\Model\MovedSubmission;
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

    /**
     * Changes the time of what is still scheduled. When nothing is, the ValidationError has the code `not_scheduled`.
     *
     * @param string|\DateTimeInterface $sendAt a string has its offset: `2026-12-24T18:00:00+01:00`
     *
     * @throws PostriderException
     */
    public function move(string $id, string|\DateTimeInterface $sendAt): MovedSubmission
    {
        $body = ['send_at' => MessageBody::time($sendAt)];

        return MovedSubmission::fromArray($this->transport->patch('/submissions/' . Transport::segment($id), $body));
    }

    /**
     * Ends every message that is neither finished nor being sent.
     *
     * @throws PostriderException
     */
    public function cancel(string $id): CanceledSubmission
    {
        $path = '/submissions/' . Transport::segment($id) . '/cancel';

        return CanceledSubmission::fromArray($this->transport->post($path, null));
    }
}
