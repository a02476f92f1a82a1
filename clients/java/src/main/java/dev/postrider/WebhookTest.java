package dev.postrider;

import java.util.Optional;

/** What an endpoint answered to a test event. */
public final class WebhookTest extends ApiObject {
  private final boolean isAccepted;
  private final Integer status;
  private final String reason;
  private final String answer;
  private final long elapsedMs;

  WebhookTest(Fields fields) {
    super(fields);
    this.isAccepted = fields.isTrue("accepted");
    this.status = fields.smallNumber("status").orElse(null);
    this.reason = fields.text("reason");
    this.answer = fields.text("answer");
    this.elapsedMs = fields.wholeNumber("elapsed_ms").orElse(0L);
  }

  /**
   * Whether it answered 2xx.
   *
   * @return true when all is well
   */
  public boolean isAccepted() {
    return isAccepted;
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
