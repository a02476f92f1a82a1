package dev.postrider;

import java.time.Instant;

/** What to count. */
public final class StatsRequest {
  private final Query query;

  private StatsRequest(Builder builder) {
    this.query = new Query(builder.query);
  }

  /**
   * The way to a request.
   *
   * @return a builder for the last 30 days
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
    return "StatsRequest" + query;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Query query = new Query();

    private Builder() {}

    /**
     * The first moment; without it 30 days before the end, or 24 hours by hour.
     *
     * @param from the moment
     * @return this
     */
    public Builder from(Instant from) {
      query.put("from", Call.time(from));
      return this;
    }

    /**
     * The first moment.
     *
     * @param from an RFC 3339 time or a date
     * @return this
     */
    public Builder from(String from) {
      query.put("from", from);
      return this;
    }

    /**
     * The moment after the last; now if this is not called.
     *
     * @param to the moment
     * @return this
     */
    public Builder to(Instant to) {
      query.put("to", Call.time(to));
      return this;
    }

    /**
     * The moment after the last.
     *
     * @param to an RFC 3339 time or a date
     * @return this
     */
    public Builder to(String to) {
      query.put("to", to);
      return this;
    }

    /**
     * The length of a step; a day if this is not called.
     *
     * @param by hour or day
     * @return this
     */
    public Builder by(StatsInterval by) {
      return by(Query.valueOf(by));
    }

    /**
     * The same, for a value that this version of the library does not know.
     *
     * @param by as in the API
     * @return this
     */
    public Builder by(String by) {
      query.put("by", by);
      return this;
    }

    /**
     * Counts only messages with this tag.
     *
     * @param tag {@code name:value}
     * @return this
     */
    public Builder tag(String tag) {
      query.put("tag", tag);
      return this;
    }

    /**
     * Makes the request.
     *
     * @return one that cannot be changed
     */
    public StatsRequest build() {
      return new StatsRequest(this);
    }
  }
}
