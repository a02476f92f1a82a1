package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** An attempt to deliver a message. */
public final class Delivery extends ApiObject {
  private final String mx;
  private final String remoteIp;
  private final Integer smtpCode;
  private final String enhancedCode;
  private final String response;
  private final Tls tls;
  private final int attempt;
  private final long elapsedMs;
  private final Instant nextAttemptAt;

  Delivery(Fields fields) {
    super(fields);
    this.mx = fields.text("mx");
    this.remoteIp = fields.text("remote_ip");
    this.smtpCode = fields.smallNumber("smtp_code").orElse(null);
    this.enhancedCode = fields.text("enhanced_code");
    this.response = fields.text("response");
    this.tls = fields.object("tls", Tls::new);
    this.attempt = fields.smallNumber("attempt").orElse(0);
    this.elapsedMs = fields.wholeNumber("elapsed_ms").orElse(0L);
    this.nextAttemptAt = fields.time("next_attempt_at");
  }

  /**
   * The server that was talked to.
   *
   * @return empty when there was none
   */
  public Optional<String> mx() {
    return Optional.ofNullable(mx);
  }

  /**
   * The address of that server.
   *
   * @return empty when there was none
   */
  public Optional<String> remoteIp() {
    return Optional.ofNullable(remoteIp);
  }

  /**
   * The code of its reply (RFC 5321).
   *
   * @return empty when there was no reply
   */
  public Optional<Integer> smtpCode() {
    return Optional.ofNullable(smtpCode);
  }

  /**
   * The enhanced code of its reply (RFC 3463).
   *
   * @return empty when it had none
   */
  public Optional<String> enhancedCode() {
    return Optional.ofNullable(enhancedCode);
  }

  /**
   * The reply of the server, or our own words when there was none.
   *
   * @return for people
   */
  public String response() {
    return response;
  }

  /**
   * How the connection was encrypted.
   *
   * @return empty when it was not
   */
  public Optional<Tls> tls() {
    return Optional.ofNullable(tls);
  }

  /**
   * The number of the attempt.
   *
   * @return 1 for the first
   */
  public int attempt() {
    return attempt;
  }

  /**
   * How long it took.
   *
   * @return milliseconds
   */
  public long elapsedMs() {
    return elapsedMs;
  }

  /**
   * When it is tried again.
   *
   * @return empty when it was delivered, and in a notice of delay
   */
  public Optional<Instant> nextAttemptAt() {
    return Optional.ofNullable(nextAttemptAt);
  }
}
