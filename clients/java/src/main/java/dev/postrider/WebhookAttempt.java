package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** One attempt to deliver an event to a webhook. */
public final class WebhookAttempt extends ApiObject {
  private final int number;
  private final Instant startedAt;
  private final Integer status;
  private final String reason;
  private final String answer;
  private final long elapsedMs;

  WebhookAttempt(Fields fields) {
    super(fields);
    this.number = fields.smallNumber("number").orElse(0);
    this.startedAt = fields.time("started_at");
    this.status = fields.smallNumber("status").orElse(null);
    this.reason = fields.text("reason");
    this.answer = fields.text("answer");
    this.elapsedMs = fields.wholeNumber("elapsed_ms").orElse(0L);
  }

  /**
   * Which one it was, over all replays.
   *
   * @return 1 for the first
   */
  public int number() {
    return number;
  }

  /**
   * When it began.
   *
   * @return a time with milliseconds
   */
  public Instant startedAt() {
    return startedAt;
  }

  /**
   * The status of the HTTP response.
   *
   * @return empty without one
   */
  public Optional<Integer> status() {
    return Optional.ofNullable(status);
  }

  /**
   * The outcome.
   *
   * @return a sentence
   */
  public String reason() {
    return reason;
  }

  /**
   * The first 4 KiB of the response.
   *
   * @return empty without one
   */
  public Optional<String> answer() {
    return Optional.ofNullable(answer);
  }

  /**
   * How long it took.
   *
   * @return milliseconds
   */
  public long elapsedMs() {
    return elapsedMs;
  }
}
