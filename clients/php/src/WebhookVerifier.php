<?php

declare(strict_types=1);

namespace Postrider;

use Postrider\Exception\WebhookVerificationError;
use Postrider\Internal\Secret;
use Postrider\Model\Event;

/**
 * Checks the signature of webhooks (Standard Webhooks 1.0).
 */
final class WebhookVerifier
{
    public const TOLERANCE_SECONDS = 300;

    private const SECRET_PREFIX = 'whsec_';
    private const VERSION_PREFIX = 'v1,';

    private readonly Secret $key;

    /**
     * @param string $secret as webhooks->create() answered it
     * @param int $tolerance how many seconds the timestamp may be away from now, in both directions
     *
     * @throws WebhookVerificationError when the secret cannot be one
     */
    public function __construct(
        #[\SensitiveParameter]
        string $secret,
        private readonly int $tolerance = self::TOLERANCE_SECONDS,
    ) {
        $this->key = new Secret(self::decode($secret));
    }

    /**
     * @param mixed $payload the body exactly as it arrived, as a string; anything else is refused with a reason
     * @param iterable<array-key, mixed> $headers getallheaders(), $_SERVER, PSR-7's getHeaders(): names in any case
     * @param int|null $now the time as a Unix timestamp, for tests
     *
     * @throws WebhookVerificationError
     */
    public function verify(mixed $payload, iterable $headers, ?int $now = null): Event
    {
        if (!\is_string($payload)) {
            throw self::failure('payload_not_raw', 'the payload must be the raw body as a string, not what was parsed '
                . 'from it: another spelling of the same JSON has another signature.');
        }
        $found = self::signingHeaders($headers);
        foreach (['webhook-id', 'webhook-timestamp', 'webhook-signature'] as $name) {
            if (!isset($found[$name])) {
                throw self::failure('missing_header', "the header {$name} is missing.");
            }
        }
        $this->checkTime($found['webhook-timestamp'], $now ?? \time());
        $this->checkSignature(
            "{$found['webhook-id']}.{$found['webhook-timestamp']}.{$payload}",
            $found['webhook-signature'],
        );

        return self::parse($payload);
    }

    private static function decode(#[\SensitiveParameter] string $secret): string
    {
        $text = \trim($secret);
        if (\str_starts_with($text, self::SECRET_PREFIX)) {
            $text = \substr($text, \strlen(self::SECRET_PREFIX));
        }
        $key = \base64_decode($text, true);
        if ($key === false || $key === '') {
            throw self::failure(
                'invalid_secret',
                'the secret is empty or not base64: use it as webhooks->create() answered it.',
            );
        }

        return $key;
    }

    /**
     * From names in any case, from lists of values, or from $_SERVER (HTTP_WEBHOOK_ID).
     *
     * @param iterable<array-key, mixed> $headers
     *
     * @return array<string, string>
     */
    private static function signingHeaders(iterable $headers): array
    {
        $found = [];
        foreach ($headers as $name => $value) {
            $plain = \strtr(\strtolower((string) $name), '_', '-');
            $plain = \str_starts_with($plain, 'http-') ? \substr($plain, 5) : $plain;
            $text = \is_array($value) ? \reset($value) : $value;
            if (\str_starts_with($plain, 'webhook-') && \is_scalar($text) && (string) $text !== '') {
                $found[$plain] = (string) $text;
            }
        }

        return $found;
    }

    private function checkTime(string $timestamp, int $now): void
    {
        if (\preg_match('/\A[0-9]+\z/', $timestamp) !== 1) {
            throw self::failure('invalid_timestamp', 'the header webhook-timestamp is not a number of seconds.');
        }
        // A float takes any number of digits.
        $age = $now - (float) $timestamp;
        if ($age > $this->tolerance) {
            throw self::failure('timestamp_too_old', 'the timestamp is too old: it may be an earlier call again.');
        }
        if (-$age > $this->tolerance) {
            throw self::failure('timestamp_too_new', 'the timestamp is in the future: compare the clocks.');
        }
    }

    /**
     * There may be several signatures, of which one has to fit: so that secrets can be changed.
     */
    private function checkSignature(string $content, string $header): void
    {
        $expected = \base64_encode(\hash_hmac('sha256', $content, $this->key->reveal(), true));
        foreach (\explode(' ', $header) as $candidate) {
            $isOurs = \str_starts_with($candidate, self::VERSION_PREFIX);
            if ($isOurs && \hash_equals($expected, \substr($candidate, \strlen(self::VERSION_PREFIX)))) {
                return;
            }
        }

        throw self::failure(
            'no_matching_signature',
            'no signature fits: the body was changed on its way, or the secret is that of another webhook.',
        );
    }

    private static function parse(string $payload): Event
    {
        $fields = \str_starts_with(\ltrim($payload), '{') ? \json_decode($payload, true) : null;
        if (!\is_array($fields)) {
            throw self::failure('invalid_payload', 'the body is signed, but is no JSON object.');
        }

        return Event::fromArray($fields);
    }

    private static function failure(string $code, string $message): WebhookVerificationError
    {
        return new WebhookVerificationError($message, errorCode: $code);
    }
}
