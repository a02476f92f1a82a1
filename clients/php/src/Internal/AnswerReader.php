<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Exception\AuthError;
use Postrider\Exception\PostriderException;
use Postrider\Exception\RateLimitError;
use Postrider\Exception\ScopeError;
use Postrider\Exception\ServerError;
use Postrider\Exception\TenantNotActiveError;
use Postrider\Exception\ValidationError;
use Postrider\Model\DomainCheck;

/**
 * Turns an HTTP answer into parsed JSON, or into the exception that its status stands for.
 *
 * @internal
 */
final class AnswerReader
{
    /**
     * @return array<mixed> the JSON object in the body
     *
     * @throws PostriderException
     */
    public static function read(Response $response): array
    {
        self::check($response);

        $status = $response->status;

        return $response->json() ?? throw new PostriderException(
            "the server answered {$status}, but not in JSON" . self::kindOfContent($response) . ': check baseUrl.',
            $status,
            "http_{$status}",
            $response->header('x-request-id'),
        );
    }

    /**
     * @throws PostriderException when the status is that of an error
     */
    public static function check(Response $response): void
    {
        if ($response->status < 200 || $response->status > 299) {
            throw self::error($response);
        }
    }

    /**
     * A proxy's page has neither code nor message: then both are made from the status.
     */
    private static function error(Response $response): PostriderException
    {
        $status = $response->status;
        $answer = $response->json() ?? [];
        $read = new Fields($answer);
        $code = $read->string('error') ?: "http_{$status}";
        $facts = [
            'message' => $read->string('message') ?: self::explanation($response),
            'status' => $status,
            'errorCode' => $code,
            'requestId' => $response->header('x-request-id'),
            'index' => $read->intOrNull('index'),
        ];

        return match (true) {
            $status === 401 => new AuthError(...$facts),
            $status === 403 && $code === 'scope_required' => new ScopeError(...$facts),
            $status === 403 && $code === 'tenant_not_active' => new TenantNotActiveError(...$facts),
            $status === 429 => new RateLimitError(...$facts, retryAfter: self::retryAfter($response, $read)),
            $status >= 400 && $status <= 499 && $code === 'verification_failed' => new ValidationError(
                ...$facts,
                domain: $read->stringOrNull('domain'),
                check: $read->object('check', DomainCheck::fromArray(...)),
            ),
            $status >= 400 && $status <= 499 => new ValidationError(...$facts),
            $status >= 500 && $status <= 599 => new ServerError(...$facts),
            default => new PostriderException(...$facts),
        };
    }

    private static function retryAfter(Response $response, Fields $read): ?int
    {
        $header = $response->header('retry-after') ?? '';
        if (\preg_match('/\A[0-9]{1,9}\z/', $header) === 1) {
            return (int) $header;
        }
        $seconds = $read->intOrNull('retry_after_secs');

        return $seconds !== null && $seconds >= 0 && $seconds <= 999_999_999 ? $seconds : null;
    }

    private static function explanation(Response $response): string
    {
        if ($response->status >= 300 && $response->status <= 399) {
            return "the server answered {$response->status}, a redirect; none is followed: check baseUrl.";
        }

        return "the server answered {$response->status} without saying why" . self::kindOfContent($response) . '.';
    }

    private static function kindOfContent(Response $response): string
    {
        $type = $response->header('content-type') ?? '';

        return \preg_match('~\A[\w.+-]+/[\w.+-]+~', $type, $found) === 1 ? " ({$found[0]})" : '';
    }
}
