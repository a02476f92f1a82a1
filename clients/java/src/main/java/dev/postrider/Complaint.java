package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** A recipient's report that a message was not wanted. */
public final class Complaint extends ApiObject {
  private final String feedbackType;
  private final String source;
  private final String userAgent;
  private final Instant arrivalDate;
  private final String reportedDomain;
  private final boolean isSuppressed;

  Complaint(Fields fields) {
    super(fields);
    this.feedbackType = fields.text("feedback_type");
    this.source = fields.text("source");
    this.userAgent = fields.text("user_agent");
    this.arrivalDate = fields.time("arrival_date");
    this.reportedDomain = fields.text("reported_domain");
    this.isSuppressed = fields.isTrue("suppressed");
  }

  /**
   * What kind (RFC 5965 section 3.1).
   *
   * @return for example {@code abuse}
   */
  public String feedbackType() {
    return feedbackType;
  }

  /**
   * How it reached the service.
   *
   * @return a word
   */
  public String source() {
    return source;
  }

  /**
   * What wrote the report.
   *
   * @return empty when it does not say
   */
  public Optional<String> userAgent() {
    return Optional.ofNullable(userAgent);
  }

  /**
   * When the message arrived, as far as the report says.
   *
   * @return empty when it does not say
   */
  public Optional<Instant> arrivalDate() {
    return Optional.ofNullable(arrivalDate);
  }

  /**
   * The domain that was reported.
   *
   * @return empty when it does not say
   */
  public Optional<String> reportedDomain() {
    return Optional.ofNullable(reportedDomain);
  }

  /**
   * Whether the address is now on your suppression list.
   *
   * @return true as a rule
   */
  public boolean isSuppressed() {
    return isSuppressed;
  }
}
