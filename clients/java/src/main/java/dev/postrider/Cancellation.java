package dev.postrider;

/** The end of a message before it was sent. */
public final class Cancellation extends ApiObject {
  private final String by;
  private final String reason;

  Cancellation(Fields fields) {
    super(fields);
    this.by = fields.text("by");
    this.reason = fields.text("reason");
  }

  /**
   * Who canceled it.
   *
   * @return {@code sender}, which is you, or {@code operator}, who runs the service
   */
  public String by() {
    return by;
  }

  /**
   * Why.
   *
   * @return a sentence
   */
  public String reason() {
    return reason;
  }
}
