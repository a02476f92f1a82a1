package dev.postrider.internal;

/** A text is no JSON, or a value cannot be written as JSON. */
public final class JsonException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes one.
   *
   * @param message says what is wrong and where
   */
  public JsonException(String message) {
    super(message);
  }
}
