<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Attachment;
use Postrider\Exception\PostriderException;
use Postrider\Internal\MessageBody;
use Postrider\Internal\Transport;
use Postrider\Model\BatchResult;
use Postrider\Model\Email;
use Postrider\Model\EmailPage;
use Postrider\Model\SendResult;

/**
 * Sending, and what became of it.
 */
final class Emails
{
    /**
     * @internal
     */
    public function __construct(private readonly Transport $transport)
    {
    }

    /**
     * Sends one message to each recipient. Give html, text or both, or templateId with data. With cc or bcc all get a
     * copy of one letter, which shows `to` and `cc`.
     *
     * Without an idempotencyKey one is made for this call, so that its retries cannot send twice. Give your own to be
     * safe over a crash of your program as well.
     *
     * @param string $from `Name <addr@domain>` or `addr@domain`, of a verified domain
     * @param string|array<string> $to one address, or up to 50
     * @param string|null $subject needed unless the template has one
     * @param string|null $templateId the id of a stored template; html and text are made from it
     * @param array<string, mixed>|object|null $data what the template is rendered with
     * @param array<string, string>|null $headers further headers of the message
     * @param string|null $idempotencyKey up to 200 printable ASCII characters
     * @param string|array<string>|null $cc as `to`; the limit of 50 counts to, cc and bcc together
     * @param string|array<string>|null $bcc as `cc`, and shown to nobody
     * @param string|array<string>|null $replyTo where answers go: up to 10 addresses
     * @param array<Attachment>|null $attachments up to 50; the whole call has at most 5 MiB
     * @param array<array-key, string>|null $tags up to 10, of ASCII letters, digits, `_` and `-`
     * @param array<array-key, string>|null $metadata up to 20; it and the tags are in every event of the messages
     * @param array{opens?: bool, clicks?: bool}|null $tracking in place of the account's settings
     * @param string|\DateTimeInterface|null $sendAt when to send it, at most 30 days ahead; a string has its offset:
     *     `2026-12-24T18:00:00+01:00`
     *
     * @throws PostriderException
     */
    public function send(
        string $from,
        string|array $to,
        ?string $subject = null,
        ?string $html = null,
        ?string $text = null,
        ?string $templateId = null,
        array|object|null $data = null,
        ?array $headers = null,
        ?string $idempotencyKey = null,
        string|array|null $cc = null,
        string|array|null $bcc = null,
        string|array|null $replyTo = null,
        ?array $attachments = null,
        ?array $tags = null,
        ?array $metadata = null,
        ?array $tracking = null,
        string|\DateTimeInterface|null $sendAt = null,
    ): SendResult {
        $body = MessageBody::of(
            from: $from,
            to: $to,
            subject: $subject,
            html: $html,
            text: $text,
            templateId: $templateId,
            data: $data,
            headers: $headers,
            cc: $cc,
            bcc: $bcc,
            replyTo: $replyTo,
            attachments: $attachments,
            tags: $tags,
            metadata: $metadata,
            tracking: $tracking,
            sendAt: $sendAt,
        );
        $key = self::idempotencyKey($idempotencyKey);

        return SendResult::fromArray($this->transport->post('/emails', $body, ['Idempotency-Key' => $key]));
    }

    /**
     * Sends up to 100 messages in one call: all of them or none. The exception's index says which one was refused.
     *
     * @param array<array<string, mixed>> $emails each with the arguments of send() by their names:
     *     `['from' => …, 'to' => …, 'subject' => …, 'text' => …]`, without idempotencyKey
     * @param 'skip'|null $onError `skip`: what is good is sent, and the results say what is not
     * @param string|null $idempotencyKey of the whole batch; made when there is none
     *
     * @throws PostriderException
     */
    public function sendBatch(array $emails, ?string $onError = null, ?string $idempotencyKey = null): BatchResult
    {
        $body = ['emails' => \array_map(self::batched(...), \array_values($emails)), 'on_error' => $onError];
        $key = self::idempotencyKey($idempotencyKey);

        return BatchResult::fromArray($this->transport->post('/emails/batch', $body, ['Idempotency-Key' => $key]));
    }

    /**
     * One message with its events.
     *
     * @param string $id out of a SendResult's messageIds
     *
     * @throws PostriderException
     */
    public function get(string $id): Email
    {
        return Email::fromArray($this->transport->get('/emails/' . Transport::segment($id)));
    }

    /**
     * Searches messages, newest first; all conditions that are given must hold. Pass the page's `next` as `after` until
     * hasMore is false.
     *
     * @param 'scheduled'|'queued'|'sending'|'deferred'|'delivered'|'bounced'|'failed'|'canceled'|null $state
     * @param string|null $to an address or a domain
     * @param string|null $from an address or a domain
     * @param string|null $tag `name:value`
     * @param string|null $createdAfter a time with its offset or a date; this moment included
     * @param string|null $createdBefore this moment not included
     * @param int|null $limit 1 to 100; 25 when not given
     *
     * @throws PostriderException
     */
    public function list(
        ?string $state = null,
        ?string $to = null,
        ?string $from = null,
        ?string $tag = null,
        ?string $createdAfter = null,
        ?string $createdBefore = null,
        ?string $after = null,
        ?int $limit = null,
    ): EmailPage {
        $query = [
            'state' => $state,
            'to' => $to,
            'from' => $from,
            'tag' => $tag,
            'created_after' => $createdAfter,
            'created_before' => $createdBefore,
            'after' => $after,
            'limit' => $limit,
        ];

        return EmailPage::fromArray($this->transport->get('/emails', $query));
    }

    /**
     * The key of a batch covers the whole: one of an email's own would have no effect.
     *
     * @param array<string, mixed> $email
     *
     * @return array<string, mixed>
     */
    private static function batched(array $email): array
    {
        if (isset($email['idempotencyKey'])) {
            throw new PostriderException(
                'idempotencyKey: is given for the whole batch, not for an email in it.',
                errorCode: 'invalid_argument',
            );
        }
        unset($email['idempotencyKey']);

        return MessageBody::of(...$email);
    }

    private static function idempotencyKey(?string $given): string
    {
        if ($given === null) {
            return self::randomUuid();
        }
        // Anything else could not travel in a header.
        if (\preg_match('/\A[\x20-\x7e]+\z/', $given) !== 1 || \trim($given) === '') {
            throw new PostriderException(
                'idempotencyKey: must be printable ASCII, not blank.',
                errorCode: 'invalid_argument',
            );
        }

        return $given;
    }

    /**
     * RFC 9562, version 4.
     */
    private static function randomUuid(): string
    {
        $bytes = \random_bytes(16);
        $bytes[6] = \chr(\ord($bytes[6]) & 0x0F | 0x40);
        $bytes[8] = \chr(\ord($bytes[8]) & 0x3F | 0x80);

        return \vsprintf('%s%s-%s-%s-%s-%s%s%s', \str_split(\bin2hex($bytes), 4));
    }
}
