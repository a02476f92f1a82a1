package dev.postrider;

import java.time.Instant;

/** The new time of a submission. */
public final class MovedSubmission extends ApiObject {
  private final String id;
  private final Instant sendAt;

  MovedSubmission(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.sendAt = fields.time("send_at");
  }

  /**
   * The ID of the submission.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * When its messages will be sent.
   *
   * @return a time with milliseconds
   */
  public Instant sendAt() {
    return sendAt;
  }
}
