package dev.postrider;

import java.util.ArrayList;
import java.util.List;

/** Which page of the feed of events to read. */
public final class ListEventsRequest {
  private final String after;
  private final Integer limit;

  private ListEventsRequest(Builder builder) {
    this.after = builder.after;
    this.limit = builder.limit;
  }

  /**
   * The way to a request.
   *
   * @return a builder for the first page
   */
  public static Builder builder() {
    return new Builder();
  }

  String query() {
    List<String> parts = new ArrayList<>();
    if (after != null) {
      parts.add("after=" + Call.percentEncode(after));
    }
    if (limit != null) {
      parts.add("limit=" + limit);
    }
    return parts.isEmpty() ? "" : "?" + String.join("&", parts);
  }

  @Override
  public String toString() {
    return "ListEventsRequest" + query();
  }

  /** Makes requests. */
  public static final class Builder {
    private String after;
    private Integer limit;

    private Builder() {}

    /**
     * Begins behind an event.
     *
     * @param eventId of the last event that you have seen; null for the beginning of the feed
     * @return this
     */
    public Builder after(String eventId) {
      this.after = eventId;
      return this;
    }

    /**
     * How many events to read at most; 100 if this is not called.
     *
     * @param limit 1 to 1,000
     * @return this
     */
    public Builder limit(int limit) {
      this.limit = limit;
      return this;
    }

    /**
     * Makes the request.
     *
     * @return one that cannot be changed
     */
    public ListEventsRequest build() {
      return new ListEventsRequest(this);
    }
  }
}
