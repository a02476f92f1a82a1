<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Exception\NetworkError;

/**
 * Exchanges a request for a response with curl; the connection is kept open between calls.
 *
 * @internal
 */
final class Connection
{
    /** Servers and proxies close idle connections themselves after 5 s or more: be quicker than they are. */
    private const KEEP_ALIVE_SECONDS = 4.0;

    private ?\CurlHandle $handle = null;
    private int|false $ownerPid = false;
    private float $lastUsedAt = 0.0;

    public function __construct(
        private readonly string $baseUrl,
        private readonly float $timeoutSeconds,
    ) {
    }

    /**
     * @param bool $isFresh never over the connection of an earlier call: curl would repeat the request on its own when
     *     that turns out to be closed
     *
     * @throws NetworkError
     */
    public function exchange(Request $request, bool $isFresh): Response
    {
        $handle = $this->handle();
        $headers = [];
        \curl_setopt_array($handle, $this->options($request) + [
            \CURLOPT_FRESH_CONNECT => $isFresh || self::now() - $this->lastUsedAt > self::KEEP_ALIVE_SECONDS,
            \CURLOPT_HEADERFUNCTION => static function ($handle, string $line) use (&$headers): int {
                if (\str_starts_with($line, 'HTTP/')) {
                    // The head before this one was that of an interim answer, or of a proxy.
                    $headers = [];
                } elseif (\str_contains($line, ':')) {
                    [$name, $value] = \explode(':', $line, 2);
                    $headers[\strtolower(\trim($name))] = \trim($value);
                }

                return \strlen($line);
            },
        ]);
        $body = \curl_exec($handle);
        $this->lastUsedAt = self::now();
        if (!\is_string($body)) {
            throw $this->failure($handle);
        }

        return new Response(\curl_getinfo($handle, \CURLINFO_RESPONSE_CODE), $headers, $body);
    }

    /**
     * The handle, with nothing left in it from the call before but the open connection.
     */
    private function handle(): \CurlHandle
    {
        // A forked process must not talk over its parent's connection.
        if ($this->handle === null || $this->ownerPid !== \getmypid()) {
            $this->handle = \curl_init();
            $this->ownerPid = \getmypid();
        }
        \curl_reset($this->handle);

        return $this->handle;
    }

    /**
     * @return array<int, mixed>
     */
    private function options(Request $request): array
    {
        $options = [
            \CURLOPT_URL => $this->baseUrl . $request->path,
            \CURLOPT_CUSTOMREQUEST => $request->method,
            \CURLOPT_HTTPHEADER => self::headerLines($request),
            \CURLOPT_RETURNTRANSFER => true,
            \CURLOPT_HTTP_VERSION => \CURL_HTTP_VERSION_1_1,
            // Elsewhere the key has no business.
            \CURLOPT_FOLLOWLOCATION => false,
            \CURLOPT_SSL_VERIFYPEER => true,
            \CURLOPT_SSL_VERIFYHOST => 2,
            \CURLOPT_CONNECTTIMEOUT_MS => self::milliseconds($this->timeoutSeconds),
            \CURLOPT_TIMEOUT_MS => self::milliseconds($this->timeoutSeconds),
            // Without it, limits below a second fail where curl looks names up by the system's resolver.
            \CURLOPT_NOSIGNAL => true,
        ];
        if (\in_array($request->method, ['POST', 'PUT', 'PATCH'], true)) {
            $options[\CURLOPT_POSTFIELDS] = $request->body ?? '';
        }

        return $options;
    }

    /**
     * @return list<string>
     */
    private static function headerLines(Request $request): array
    {
        // A name without a value takes away what curl would send by itself.
        $lines = ['Expect:', $request->body === null ? 'Content-Type:' : 'Content-Type: application/json'];
        foreach ($request->headers as $name => $value) {
            $lines[] = "{$name}: {$value}";
        }
        if ($request->apiKey !== null) {
            $lines[] = 'Authorization: Bearer ' . $request->apiKey->reveal();
        }

        return $lines;
    }

    private function failure(\CurlHandle $handle): NetworkError
    {
        if (\curl_errno($handle) === \CURLE_OPERATION_TIMEDOUT) {
            return new NetworkError("no answer from {$this->baseUrl} within {$this->timeoutSeconds} s.", timeout: true);
        }

        return new NetworkError("no answer from {$this->baseUrl}: " . \curl_error($handle));
    }

    private static function milliseconds(float $seconds): int
    {
        // 0 would mean no limit.
        return (int) \min(\max(\ceil($seconds * 1000), 1), 2_147_483_647);
    }

    private static function now(): float
    {
        return \hrtime(true) / 1e9;
    }
}
