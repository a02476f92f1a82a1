package dev.postrider;

/** Which page of the feed of events to read. */
public final class ListEventsRequest {
  private final Query query;

  private ListEventsRequest(Builder builder) {
    this.query = new Query(builder.query);
  }

  /**
   * The way to a request.
   *
   * @return a builder for the first page
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Empty, or with its question mark. */
  String query() {
    return query.toString();
  }

  @Override
  public String toString() {
    return "ListEventsRequest" + query;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Query query = new Query();

    private Builder() {}

    /**
     * Begins behind an event.
     *
     * @param eventId of the last event that you have seen; null for the beginning of the feed
     * @return this
     */
    public Builder after(String eventId) {
      query.put("after", eventId);
      return this;
    }

    /**
     * How many events to read at most; 100 if this is not called.
     *
     * @param limit 1 to 1,000
     * @return this
     */
    public Builder limit(int limit) {
      query.put("limit", limit);
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
