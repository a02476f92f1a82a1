package dev.postrider;

import java.util.List;

/** What was accepted of a batch. */
public final class SendBatchResult extends ApiObject {
  private final List<BatchEntry> results;

  SendBatchResult(Fields fields) {
    super(fields);
    this.results = fields.objects("results", BatchEntry::new);
  }

  /**
   * What became of each email.
   *
   * @return in the order of the request
   */
  public List<BatchEntry> results() {
    return results;
  }
}
