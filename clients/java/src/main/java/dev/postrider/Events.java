package dev.postrider;

/** Reads the feed of events; see {@link Postrider#events()}. */
public final class Events {
  private final Caller caller;

  Events(Caller caller) {
    this.caller = caller;
  }

  /**
   * Reads the beginning of the feed.
   *
   * @return up to 100 events, oldest first
   * @throws PostriderException when the call failed
   */
  public EventPage list() {
    return list(ListEventsRequest.builder().build());
  }

  /**
   * Reads a page of the feed. Pass the id of the last event that you have seen until there are no
   * more; later, go on from there.
   *
   * @param request which page
   * @return the page, oldest first
   * @throws PostriderException when the call failed
   */
  public EventPage list(ListEventsRequest request) {
    return new EventPage(caller.call(Call.of("GET", "/events" + request.query())));
  }
}
