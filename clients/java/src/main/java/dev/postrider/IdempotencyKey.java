package dev.postrider;

import java.util.UUID;

/** What names a message or batch, so that it is not sent twice. */
final class IdempotencyKey {
  private final String text;
  private final boolean isOfCaller;

  /** Random for null. */
  IdempotencyKey(String given) {
    this.isOfCaller = given != null;
    this.text = isOfCaller ? given : UUID.randomUUID().toString();
    if (text.isBlank() || !text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      throw Failure.invalidArgument(
          "The idempotency key is blank or has characters other than printable ASCII.");
    }
  }

  String text() {
    return text;
  }

  boolean isOfCaller() {
    return isOfCaller;
  }
}
