package dev.postrider;

/** One message of a submission. */
public final class SubmissionMessage extends ApiObject {
  private final String id;
  private final String to;
  private final RecipientKind kind;
  private final MessageState state;

  SubmissionMessage(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.to = fields.text("to");
    this.kind = fields.constant("kind", RecipientKind.class, RecipientKind.UNKNOWN);
    this.state = fields.constant("state", MessageState.class, MessageState.UNKNOWN);
  }

  /**
   * The id of the message.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * The address of its recipient.
   *
   * @return a bare address
   */
  public String to() {
    return to;
  }

  /**
   * In which list the recipient was.
   *
   * @return the kind
   */
  public RecipientKind kind() {
    return kind;
  }

  /**
   * How far it has come.
   *
   * @return the state
   */
  public MessageState state() {
    return state;
  }
}
