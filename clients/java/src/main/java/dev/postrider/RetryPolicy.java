package dev.postrider;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** When a call is repeated. */
final class RetryPolicy {
  /** After network failures and 5xx; the last one stands for all that follow. */
  private static final List<Duration> BACKOFF =
      List.of(Duration.ofMillis(250), Duration.ofSeconds(1), Duration.ofSeconds(4));

  /** How much of a pause may be added at random, so that many clients do not come back together. */
  private static final double JITTER_SHARE = 0.2;

  private RetryPolicy() {}

  /**
   * The pause before repetition number {@code retry}, from 0; empty when the answer is not worth
   * repeating the call. {@code randomness} is at least 0 and below 1.
   */
  static Optional<Duration> pauseAfter(Answer answer, int retry, double randomness) {
    if (answer.status() == 429) {
      return Optional.of(answer.retryAfter().orElseGet(() -> backoff(retry, randomness)));
    }
    return answer.status() >= 500 ? Optional.of(backoff(retry, randomness)) : Optional.empty();
  }

  static Duration backoff(int retry, double randomness) {
    Duration pause = BACKOFF.get(Math.min(retry, BACKOFF.size() - 1));
    return pause.plusMillis((long) (pause.toMillis() * JITTER_SHARE * randomness));
  }
}
