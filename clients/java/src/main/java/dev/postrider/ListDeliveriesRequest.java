package dev.postrider;

/** Which deliveries of a webhook to list. */
public final class ListDeliveriesRequest {
  private final Query query;

  private ListDeliveriesRequest(Builder builder) {
    this.query = new Query(builder.query);
  }

  /**
   * The way to a request.
   *
   * @return a builder for the first page of all deliveries
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
    return "ListDeliveriesRequest" + query;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Query query = new Query();

    private Builder() {}

    /**
     * Only deliveries in this state.
     *
     * @param state how far they have come
     * @return this
     */
    public Builder state(WebhookDeliveryState state) {
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
     * Continues the list.
     *
     * @param next {@code next()} of the page before with the same state; null for the first page
     * @return this
     */
    public Builder after(String next) {
      query.put("after", next);
      return this;
    }

    /**
     * How many deliveries to list at most; 25 if this is not called.
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
    public ListDeliveriesRequest build() {
      return new ListDeliveriesRequest(this);
    }
  }
}
