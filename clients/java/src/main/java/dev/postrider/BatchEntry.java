package dev.postrider;

import java.util.List;
import java.util.Optional;

/** What became of one email of a batch. */
public final class BatchEntry extends ApiObject {
  private final String id;
  private final List<String> messageIds;
  private final List<Rejection> rejected;
  private final boolean isReplayed;
  private final String error;
  private final String message;

  BatchEntry(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.messageIds = fields.texts("message_ids");
    this.rejected = fields.objects("rejected", Rejection::new);
    this.isReplayed = fields.isTrue("replayed");
    this.error = fields.text("error");
    this.message = fields.text("message");
  }

  /**
   * The ID of the submission.
   *
   * @return empty when the email was refused
   */
  public Optional<String> id() {
    return Optional.ofNullable(id);
  }

  /**
   * One ID per queued message, in the order of to, cc and bcc.
   *
   * @return UUIDs; none when the email was refused
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

  /**
   * The code that says why the email was refused, like {@link PostriderException#code()}.
   *
   * @return empty when it was accepted
   */
  public Optional<String> error() {
    return Optional.ofNullable(error);
  }

  /**
   * Why the email was refused, for people.
   *
   * @return empty when it was accepted
   */
  public Optional<String> message() {
    return Optional.ofNullable(message);
  }
}
