<?php

declare(strict_types=1);

namespace Postrider\Resource;

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
     * Sends one message to each recipient. Give html, text or both, or templateId with data.
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
    ): SendResult {
        $body = [
            'from' => $from,
            'to' => \is_array($to) ? \array_values($to) : $to,
            'subject' => $subject,
            'html' => $html,
            'text' => $text,
            'template_id' => $templateId,
            // An empty array would become a JSON array.
            'data' => \is_array($data) ? (object) $data : $data,
            'headers' => $headers === null ? null : (object) $headers,
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
