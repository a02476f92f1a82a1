package dev.postrider;

/** What a test event says. */
public final class TestNotice extends ApiObject {
  private final String message;

  TestNotice(Fields fields) {
    super(fields);
    this.message = fields.text("message");
  }

  /**
   * The text.
   *
   * @return a sentence
   */
  public String message() {
    return message;
  }
}
