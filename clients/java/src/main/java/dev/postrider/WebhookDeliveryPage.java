package dev.postrider;

import java.util.List;
import java.util.Optional;

/** A part of a webhook's deliveries. */
public final class WebhookDeliveryPage extends ApiObject {
  private final List<WebhookDelivery> deliveries;
  private final boolean hasMore;
  private final String next;

  WebhookDeliveryPage(Fields fields) {
    super(fields);
    this.deliveries = fields.objects("deliveries", WebhookDelivery::new);
    this.hasMore = fields.isTrue("has_more");
    this.next = fields.text("next");
  }

  /**
   * One entry per event.
   *
   * @return newest event first; the latest failure first if only failed ones are listed, and the
   *     next attempt first if only due ones are
   */
  public List<WebhookDelivery> deliveries() {
    return deliveries;
  }

  /**
   * Whether there may be deliveries after this page.
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
