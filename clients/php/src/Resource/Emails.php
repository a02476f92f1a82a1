<?php

declare(strict_types=1);

namespace Postrider\Resource;

use Postrider\Attachment;
use Postrider\Exception\PostriderException;
use Postrider\Internal\Transport;
use Postrider\Model\Email;
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
     *
     * @throws PostriderException
     */
    public function send(
        string $from,
        string|array $to,
        string $subject,
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
    ): SendResult {
        $body = [
            'from' => $from,
            'to' => self::listed($to),
            'subject' => $subject,
            'html' => $html,
            'text' => $text,
            'template_id' => $templateId,
            'data' => self::named($data),
            'headers' => self::named($headers),
            'cc' => self::listed($cc),
            'bcc' => self::listed($bcc),
            'reply_to' => self::listed($replyTo),
            'attachments' => self::attachments($attachments),
            'tags' => self::named($tags),
            'metadata' => self::named($metadata),
            'tracking' => self::named($tracking),
        ];
        $key = self::idempotencyKey($idempotencyKey);

        return SendResult::fromArray($this->transport->post('/emails', $body, ['Idempotency-Key' => $key]));
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
     * @param string|array<mixed>|null $given
     *
     * @return string|list<mixed>|null
     */
    private static function listed(string|array|null $given): string|array|null
    {
        return \is_array($given) ? \array_values($given) : $given;
    }

    /**
     * An array would not say whether its content is bytes or base64.
     *
     * @param array<mixed>|null $given
     *
     * @return list<Attachment>|null
     */
    private static function attachments(?array $given): ?array
    {
        foreach ($given ?? [] as $attachment) {
            if (!$attachment instanceof Attachment) {
                throw new PostriderException(
                    'attachments: must be Postrider\\Attachment objects.',
                    errorCode: 'invalid_argument',
                );
            }
        }

        return self::listed($given);
    }

    /**
     * An array that is empty, or has numbers as names, would become a JSON array.
     *
     * @param array<mixed>|object|null $given
     */
    private static function named(array|object|null $given): ?object
    {
        return $given === null ? null : (object) $given;
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
