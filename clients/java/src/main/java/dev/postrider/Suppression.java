package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** An address that gets no mail from you. */
public final class Suppression extends ApiObject {
  private final String address;
  private final RejectionReason reason;
  private final String messageId;
  private final Instant createdAt;

  Suppression(Fields fields) {
    super(fields);
    this.address = fields.text("address");
    this.reason = fields.constant("reason", RejectionReason.class, RejectionReason.UNKNOWN);
    this.messageId = fields.text("message_id");
    this.createdAt = fields.time("created_at");
  }

  /**
   * The address.
   *
   * @return in lower case, its domain in ASCII
   */
  public String address() {
    return address;
  }

  /**
   * Why it is on the list.
   *
   * @return the reason
   */
  public RejectionReason reason() {
    return reason;
  }

  /**
   * The message that bounced, or that the recipient complained about or unsubscribed from.
   *
   * @return empty when there is none
   */
  public Optional<String> messageId() {
    return Optional.ofNullable(messageId);
  }

  /**
   * When it was added.
   *
   * @return a time with milliseconds
   */
  public Instant createdAt() {
    return createdAt;
  }
}
