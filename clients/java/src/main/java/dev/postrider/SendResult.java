package dev.postrider;

import java.util.List;

/** What was taken of a message. */
public final class SendResult extends ApiObject {
  private final String id;
  private final List<String> messageIds;
  private final List<Rejection> rejected;
  private final boolean isReplayed;

  SendResult(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.messageIds = fields.texts("message_ids");
    this.rejected = fields.objects("rejected", Rejection::new);
    this.isReplayed = fields.isTrue("replayed");
  }

  /**
   * The id of the submission, this one call.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * One id per queued message, in the order of to, cc and bcc.
   *
   * @return UUIDs
   */
  public List<String> messageIds() {
    return messageIds;
  }

  /**
   * The recipients that get nothing.
   *
   * @return those on a suppression list
   */
  public List<Rejection> rejected() {
    return rejected;
  }

  /**
   * Whether this repeats the answer to an earlier call with the same idempotency key.
   *
   * @return true when nothing was sent again
   */
  public boolean isReplayed() {
    return isReplayed;
  }
}
