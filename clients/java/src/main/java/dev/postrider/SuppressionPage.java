package dev.postrider;

import java.util.List;
import java.util.Optional;

/** A part of the suppression list. */
public final class SuppressionPage extends ApiObject {
  private final List<Suppression> suppressions;
  private final boolean hasMore;
  private final String next;

  SuppressionPage(Fields fields) {
    super(fields);
    this.suppressions = fields.objects("suppressions", Suppression::new);
    this.hasMore = fields.isTrue("has_more");
    this.next = fields.text("next");
  }

  /**
   * The entries.
   *
   * @return in alphabetical order
   */
  public List<Suppression> suppressions() {
    return suppressions;
  }

  /**
   * Whether there may be addresses after this page.
   *
   * @return true to go on
   */
  public boolean hasMore() {
    return hasMore;
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
