<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Client;
use Postrider\Exception\PostriderException;

/**
 * Makes one call of the API, retries included.
 *
 * @internal
 */
final class Transport
{
    private const LONGEST_SLEEP_MICROSECONDS = 1_000_000;

    private readonly Connection $connection;
    private readonly RetryPolicy $retries;

    public function __construct(private readonly Settings $settings)
    {
        $this->connection = new Connection($settings->baseUrl, $settings->timeoutSeconds);
        $this->retries = new RetryPolicy($settings->maxRetries);
    }

    /**
     * A null in the query counts as not given.
     *
     * @param array<string, string|int|null> $query
     *
     * @return array<mixed> the JSON object in the answer
     */
    public function get(string $path, array $query = []): array
    {
        // Nulls are left out.
        $question = \http_build_query($query, '', '&', \PHP_QUERY_RFC3986);

        return $this->call('GET', $question === '' ? $path : "{$path}?{$question}");
    }

    /**
     * A null in the body counts as not given.
     *
     * @param array<string, mixed>|null $body null for a call without one
     * @param array<string, string> $headers
     *
     * @return array<mixed> the JSON object in the answer
     */
    public function post(string $path, ?array $body, array $headers = []): array
    {
        return $this->call('POST', $path, $body, $headers);
    }

    /**
     * @param array<string, mixed> $body
     *
     * @return array<mixed> the JSON object in the answer
     */
    public function put(string $path, array $body): array
    {
        return $this->call('PUT', $path, $body);
    }

    /**
     * @param array<string, mixed> $body
     *
     * @return array<mixed> the JSON object in the answer
     */
    public function patch(string $path, array $body): array
    {
        return $this->call('PATCH', $path, $body);
    }

    /**
     * A POST without a body that does harm when it is made twice: it is tried again only when nothing was done, and
     * has a connection of its own, on which curl never repeats it either.
     *
     * @return array<mixed> the JSON object in the answer
     */
    public function postOnce(string $path): array
    {
        $request = $this->request('POST', $path, null, []);

        return $this->retrying(
            fn (): array => AnswerReader::read($this->connection->exchange($request, isFresh: true)),
            mayBeRepeated: false,
        );
    }

    /**
     * @return array<mixed> the JSON object in the answer
     */
    public function delete(string $path): array
    {
        return $this->call('DELETE', $path);
    }

    /**
     * A DELETE that is answered without a body.
     */
    public function remove(string $path): void
    {
        $request = $this->request('DELETE', $path, null, []);
        $this->retrying(fn () => AnswerReader::check($this->connection->exchange($request, isFresh: true)));
    }

    /**
     * The health check: it needs no key, and a server that misses its database is an answer.
     *
     * @return array<mixed>
     */
    public function health(): array
    {
        $request = new Request('GET', '/healthz', headers: self::ownHeaders());

        return $this->retrying(function (bool $isRetry) use ($request): array {
            $response = $this->connection->exchange($request, $isRetry);
            $answer = $response->json();
            if ($response->status === 503 && ($answer['status'] ?? null) === 'db_unreachable') {
                return $answer;
            }

            return AnswerReader::read($response);
        });
    }

    /**
     * One segment of a path: what an id holds must not lead to another endpoint.
     *
     * @param string $wanted what is said when it cannot be one
     */
    public static function segment(string $id, string $wanted = 'id: must be the id of something, not empty.'): string
    {
        if (\in_array($id, ['', '.', '..'], true)) {
            throw new PostriderException($wanted, errorCode: 'invalid_argument');
        }

        return \rawurlencode($id);
    }

    /**
     * @return array<string, string>
     */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->settings->baseUrl];
    }

    /**
     * @param array<string, mixed>|null $body
     * @param array<string, string> $headers
     *
     * @return array<mixed>
     */
    private function call(string $method, string $path, ?array $body = null, array $headers = []): array
    {
        $request = $this->request($method, $path, $body, $headers);
        // Should curl repeat it on its own, nothing happens twice.
        $isHarmless = $method === 'GET' || isset($headers['Idempotency-Key']);

        return $this->retrying(
            fn (bool $isRetry): array => AnswerReader::read(
                $this->connection->exchange($request, isFresh: $isRetry || !$isHarmless),
            ),
        );
    }

    /**
     * @param array<string, mixed>|null $body
     * @param array<string, string> $headers
     */
    private function request(string $method, string $path, ?array $body, array $headers): Request
    {
        $payload = $body === null ? null : self::encode($body);

        return new Request($method, $path, $payload, self::ownHeaders() + $headers, $this->settings->apiKey);
    }

    /**
     * @template T
     *
     * @param callable(bool): T $attempt is told whether it is a retry
     *
     * @return T
     */
    private function retrying(callable $attempt, bool $mayBeRepeated = true): mixed
    {
        for ($attemptsMade = 1;; $attemptsMade++) {
            try {
                return $attempt($attemptsMade > 1);
            } catch (PostriderException $error) {
                $pause = $this->retries->pauseAfter($error, $attemptsMade, $mayBeRepeated);
                self::sleep($pause ?? throw $error);
            }
        }
    }

    /**
     * Not shorter than asked for: a signal ends usleep() early.
     */
    private static function sleep(float $seconds): void
    {
        $until = \hrtime(true) + $seconds * 1e9;
        while (($left = $until - \hrtime(true)) > 0) {
            \usleep((int) \min(\ceil($left / 1000), self::LONGEST_SLEEP_MICROSECONDS));
        }
    }

    /**
     * @return array<string, string>
     */
    private static function ownHeaders(): array
    {
        return ['Accept' => 'application/json', 'User-Agent' => 'postrider-php/' . Client::VERSION];
    }

    /**
     * @param array<string, mixed> $fields
     */
    private static function encode(array $fields): string
    {
        $given = \array_filter($fields, static fn (mixed $value): bool => $value !== null);
        try {
            return \json_encode(
                (object) $given,
                \JSON_THROW_ON_ERROR | \JSON_UNESCAPED_SLASHES | \JSON_UNESCAPED_UNICODE | \JSON_PRESERVE_ZERO_FRACTION,
            );
        } catch (\JsonException $error) {
            throw new PostriderException(
                "the request cannot be written as JSON: {$error->getMessage()}",
                errorCode: 'invalid_argument',
                previous: $error,
            );
        }
    }
}
