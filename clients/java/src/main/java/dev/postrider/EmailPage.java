package dev.postrider;

import java.util.List;
import java.util.Optional;

/** A part of the list of messages. */
public final class EmailPage extends ApiObject {
  private final List<ListedEmail> emails;
  private final boolean hasMore;
  private final boolean isComplete;
  private final String next;

  EmailPage(Fields fields) {
    super(fields);
    this.emails = fields.objects("emails", ListedEmail::new);
    this.hasMore = fields.isTrue("has_more");
    this.isComplete = fields.isTrue("complete");
    this.next = fields.text("next");
  }

  /**
   * The messages, one per recipient.
   *
   * @return newest first
   */
  public List<ListedEmail> emails() {
    return emails;
  }

  /**
   * Whether there may be messages after this page.
   *
   * @return true to go on
   */
  public boolean hasMore() {
    return hasMore;
  }

  /**
   * Whether the search looked at all messages that the page could have had.
   *
   * @return false when it stopped before the page was full, because it had looked at many messages
   */
  public boolean isComplete() {
    return isComplete;
  }

  /**
   * What to pass as {@code after} for the next page.
   *
   * @return empty at the end
   */
  public Optional<String> next() {
    return Optional.ofNullable(next);
  }
}
