<?php

declare(strict_types=1);

namespace Postrider\Internal;

use Postrider\Exception\NetworkError;
use Postrider\Exception\PostriderException;
use Postrider\Exception\RateLimitError;
use Postrider\Exception\ServerError;

/**
 * Decides whether a failed attempt is followed by another, and after how many seconds.
 *
 * @internal
 */
final class RetryPolicy
{
    /** The pauses before the first, second and third retry; the last one is used for all that follow. */
    private const PAUSES_SECONDS = [0.25, 1.0, 4.0];
    /** Up to a fifth is added, so that clients that failed together do not come back together. */
    private const JITTER = 0.2;

    public function __construct(private readonly int $maxRetries)
    {
    }

    /**
     * @param bool $mayBeRepeated false for a call that does harm when it is made twice: only a 429 says that nothing
     *     was done
     *
     * @return float|null seconds to wait before the next attempt; null when there is none
     */
    public function pauseAfter(PostriderException $error, int $attemptsMade, bool $mayBeRepeated = true): ?float
    {
        if ($attemptsMade > $this->maxRetries) {
            return null;
        }
        if ($error instanceof RateLimitError && $error->retryAfter !== null) {
            return (float) $error->retryAfter;
        }
        $isLost = $error instanceof ServerError || $error instanceof NetworkError;
        $mayRetry = $error instanceof RateLimitError || ($isLost && $mayBeRepeated);

        return $mayRetry ? self::backoff($attemptsMade) : null;
    }

    private static function backoff(int $attemptsMade): float
    {
        $last = \count(self::PAUSES_SECONDS) - 1;
        $pause = self::PAUSES_SECONDS[\min($attemptsMade - 1, $last)];

        return $pause * (1 + self::JITTER * \random_int(0, 1_000_000) / 1_000_000);
    }
}
