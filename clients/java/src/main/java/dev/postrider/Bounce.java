package dev.postrider;

import java.util.Optional;

/** A refusal for good, or the reason for giving up. */
public final class Bounce extends ApiObject {
  private final BounceType type;
  private final String source;
  private final Integer smtpCode;
  private final String enhancedCode;
  private final String diagnostic;
  private final String mx;
  private final String reportingMta;
  private final int attempt;
  private final boolean isSuppressed;

  Bounce(Fields fields) {
    super(fields);
    this.type = fields.constant("type", BounceType.class, BounceType.UNKNOWN);
    this.source = fields.text("source");
    this.smtpCode = fields.smallNumber("smtp_code").orElse(null);
    this.enhancedCode = fields.text("enhanced_code");
    this.diagnostic = fields.text("diagnostic");
    this.mx = fields.text("mx");
    this.reportingMta = fields.text("reporting_mta");
    this.attempt = fields.smallNumber("attempt").orElse(0);
    this.isSuppressed = fields.isTrue("suppressed");
  }

  /**
   * How final it is for the address.
   *
   * @return the type
   */
  public BounceType type() {
    return type;
  }

  /**
   * Who said so.
   *
   * @return {@code smtp}, or {@code dsn} for a report that came back
   */
  public String source() {
    return source;
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
   * What the other side said.
   *
   * @return empty when it said nothing
   */
  public Optional<String> diagnostic() {
    return Optional.ofNullable(diagnostic);
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
   * Who wrote the report.
   *
   * @return empty without a report
   */
  public Optional<String> reportingMta() {
    return Optional.ofNullable(reportingMta);
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
   * Whether the address is now on your suppression list.
   *
   * @return true for hard bounces
   */
  public boolean isSuppressed() {
    return isSuppressed;
  }
}
