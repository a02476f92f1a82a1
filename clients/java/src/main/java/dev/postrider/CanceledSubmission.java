package dev.postrider;

import java.util.List;

/** Which messages of a submission are not sent. */
public final class CanceledSubmission extends ApiObject {
  private final List<String> canceled;
  private final List<String> tooLate;

  CanceledSubmission(Fields fields) {
    super(fields);
    this.canceled = fields.texts("canceled");
    this.tooLate = fields.texts("too_late");
  }

  /**
   * The messages that are canceled now.
   *
   * @return their IDs
   */
  public List<String> canceled() {
    return canceled;
  }

  /**
   * The messages that had ended or were being sent.
   *
   * @return their IDs
   */
  public List<String> tooLate() {
    return tooLate;
  }
}
