<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Exception\PostriderException;

/**
 * Where to call and how, checked once: from arguments, else from the environment.
 *
 * @internal
 */
final class Settings
{
    private function __construct(
        public readonly Secret $apiKey,
        /** Without a slash at its end. */
        public readonly string $baseUrl,
        public readonly int $maxRetries,
        public readonly float $timeoutSeconds,
    ) {
    }

    public static function from(
        #[\SensitiveParameter]
        ?string $apiKey,
        #[\SensitiveParameter]
        ?string $baseUrl,
        int $maxRetries,
        float $timeoutSeconds,
    ): self {
        if ($maxRetries < 0) {
            throw self::refusal('maxRetries: must be 0 or more.');
        }
        if (!($timeoutSeconds > 0) || \is_infinite($timeoutSeconds)) {
            throw self::refusal('timeout: must be a number of seconds above 0.');
        }

        return new self(
            self::key(self::given($apiKey ?? \getenv('POSTRIDER_API_KEY'))),
            self::url(self::given($baseUrl ?? \getenv('POSTRIDER_BASE_URL'))),
            $maxRetries,
            $timeoutSeconds,
        );
    }

    private static function given(#[\SensitiveParameter] string|false $value): ?string
    {
        $text = \trim((string) $value);

        return $text === '' ? null : $text;
    }

    private static function key(#[\SensitiveParameter] ?string $key): Secret
    {
        if ($key === null) {
            throw self::refusal('there is no API key: pass apiKey or set POSTRIDER_API_KEY.', 'missing_api_key');
        }
        // Anything else could not travel in a header. The message does not repeat it: it may be most of a key.
        if (\preg_match('/\A[\x21-\x7e]+\z/', $key) !== 1) {
            throw self::refusal('apiKey: holds characters that no API key has.');
        }

        return new Secret($key);
    }

    private static function url(#[\SensitiveParameter] ?string $url): string
    {
        if ($url === null) {
            throw self::refusal('there is no base URL: pass baseUrl or set POSTRIDER_BASE_URL.', 'missing_base_url');
        }
        $parts = \parse_url($url) ?: [];
        $isWeb = \in_array(\strtolower($parts['scheme'] ?? ''), ['http', 'https'], true);
        if (!$isWeb || ($parts['host'] ?? '') === '' || \preg_match('/[^\x21-\x7e]/', $url) === 1) {
            throw self::refusal('baseUrl: must be an http or https URL, like https://mail.example.com.');
        }
        // In a proxied or logged address, user and password would be seen; the others would swallow the paths.
        if (\strpbrk($url, '?#') !== false || isset($parts['user']) || isset($parts['pass'])) {
            throw self::refusal('baseUrl: must not hold a user, a password, a query or a fragment.');
        }

        return \rtrim($url, '/');
    }

    private static function refusal(string $message, string $code = 'invalid_option'): PostriderException
    {
        return new PostriderException($message, errorCode: $code);
    }
}
