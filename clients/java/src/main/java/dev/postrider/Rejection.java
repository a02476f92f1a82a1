package dev.postrider;

/** A recipient that gets nothing, being on a suppression list. */
public final class Rejection extends ApiObject {
  private final String to;
  private final RejectionReason reason;

  Rejection(Fields fields) {
    super(fields);
    this.to = fields.text("to");
    this.reason = fields.constant("reason", RejectionReason.class, RejectionReason.UNKNOWN);
  }

  /**
   * The address.
   *
   * @return as it was written
   */
  public String to() {
    return to;
  }

  /**
   * Why it is on the list.
   *
   * @return the reason
   */
  public RejectionReason reason() {
    return reason;
  }
}
