package dev.postrider;

import java.time.Duration;
import java.util.Optional;

/** A 429 after all retries. */
public final class RateLimitError extends PostriderException {
  private static final long serialVersionUID = 1L;

  /** Null when the answer did not say. */
  private final Duration retryAfter;

  RateLimitError(Failure failure, Duration retryAfter) {
    super(failure);
    this.retryAfter = retryAfter;
  }

  /**
   * How long to wait until one call will be let through.
   *
   * @return empty when the answer did not say
   */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
