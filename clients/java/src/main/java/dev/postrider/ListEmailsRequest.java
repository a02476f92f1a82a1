package dev.postrider;

import java.time.Instant;

/** Which messages to list: those that meet all conditions that are given. */
public final class ListEmailsRequest {
  private final Query query;

  private ListEmailsRequest(Builder builder) {
    this.query = new Query(builder.query);
  }

  /**
   * The way to a request.
   *
   * @return a builder for the first page of all messages
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
    return "ListEmailsRequest" + query;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Query query = new Query();

    private Builder() {}

    /**
     * Only messages in this state.
     *
     * @param state how far they have come
     * @return this
     */
    public Builder state(MessageState state) {
      return state(Query.valueOf(state));
    }

    /**
     * The same, for a value that this version of the library does not know.
     *
     * @param state as in the API
     * @return this
     */
    public Builder state(String state) {
      query.put("state", state);
      return this;
    }

    /**
     * Only messages to this address, in any case, or to this domain.
     *
     * @param to an address or a domain
     * @return this
     */
    public Builder to(String to) {
      query.put("to", to);
      return this;
    }

    /**
     * Only messages from this address, in any case, or from this domain.
     *
     * @param from an address or a domain
     * @return this
     */
    public Builder from(String from) {
      query.put("from", from);
      return this;
    }

    /**
     * Only messages with this tag.
     *
     * @param tag {@code name:value}
     * @return this
     */
    public Builder tag(String tag) {
      query.put("tag", tag);
      return this;
    }

    /**
     * Only messages that were accepted at this moment or later.
     *
     * @param createdAfter the moment
     * @return this
     */
    public Builder createdAfter(Instant createdAfter) {
      query.put("created_after", Call.time(createdAfter));
      return this;
    }

    /**
     * Only messages that were accepted at this moment or later.
     *
     * @param createdAfter an RFC 3339 time or a date
     * @return this
     */
    public Builder createdAfter(String createdAfter) {
      query.put("created_after", createdAfter);
      return this;
    }

    /**
     * Only messages that were accepted before this moment.
     *
     * @param createdBefore the moment
     * @return this
     */
    public Builder createdBefore(Instant createdBefore) {
      query.put("created_before", Call.time(createdBefore));
      return this;
    }

    /**
     * Only messages that were accepted before this moment.
     *
     * @param createdBefore an RFC 3339 time or a date
     * @return this
     */
    public Builder createdBefore(String createdBefore) {
      query.put("created_before", createdBefore);
      return this;
    }

    /**
     * Continues the list.
     *
     * @param next {@code next()} of the page before; null for the first page
     * @return this
     */
    public Builder after(String next) {
      query.put("after", next);
      return this;
    }

    /**
     * How many messages to list at most; 25 if this is not called.
     *
     * @param limit 1 to 100
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
    public ListEmailsRequest build() {
      return new ListEmailsRequest(this);
    }
  }
}
