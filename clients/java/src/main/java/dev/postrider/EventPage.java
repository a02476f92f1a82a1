package dev.postrider;

import java.util.List;

/** A part of the feed of events. */
public final class EventPage extends ApiObject {
  private final List<Event> events;
  private final boolean hasMore;

  EventPage(Fields fields) {
    super(fields);
    this.events = fields.objects("events", Event::new);
    this.hasMore = fields.isTrue("has_more");
  }

  /**
   * What happened.
   *
   * @return oldest first
   */
  public List<Event> events() {
    return events;
  }

  /**
   * Whether there are events behind this page.
   *
   * @return true to go on
   */
  public boolean hasMore() {
    return hasMore;
  }
}
