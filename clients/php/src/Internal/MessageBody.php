<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Attachment;
use Postrider\Exception\PostriderException;

/**
 * One message as the service takes it, alone or in a batch. The arguments are those of Emails::send().
 *
 * @internal
 */
final class MessageBody
{
    /**
     * @param string|array<string> $to
     * @param array<string, mixed>|object|null $data
     * @param array<string, string>|null $headers
     * @param string|array<string>|null $cc
     * @param string|array<string>|null $bcc
     * @param string|array<string>|null $replyTo
     * @param array<Attachment>|null $attachments
     * @param array<array-key, string>|null $tags
     * @param array<array-key, string>|null $metadata
     * @param array{opens?: bool, clicks?: bool}|null $tracking
     *
     * @return array<string, mixed> without what was not given
     */
    public static function of(
        string $from,
        string|array $to,
        ?string $subject = null,
        ?string $html = null,
        ?string $text = null,
        ?string $templateId = null,
        array|object|null $data = null,
        ?array $headers = null,
        string|array|null $cc = null,
        string|array|null $bcc = null,
        string|array|null $replyTo = null,
        ?array $attachments = null,
        ?array $tags = null,
        ?array $metadata = null,
        ?array $tracking = null,
        string|\DateTimeInterface|null $sendAt = null,
    ): array {
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
            'send_at' => self::time($sendAt),
        ];

        return \array_filter($body, static fn (mixed $value): bool => $value !== null);
    }

    /**
     * RFC 3339. A string is for the service to judge, which says what is wrong with it.
     */
    public static function time(string|\DateTimeInterface|null $given): ?string
    {
        if (!$given instanceof \DateTimeInterface) {
            return $given;
        }
        $utc = \DateTimeImmutable::createFromInterface($given)->setTimezone(new \DateTimeZone('UTC'));

        return $utc->format('Y-m-d\TH:i:s.v\Z');
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
}
