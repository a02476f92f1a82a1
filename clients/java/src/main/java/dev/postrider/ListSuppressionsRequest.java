package dev.postrider;

/** Which part of the suppression list to read. */
public final class ListSuppressionsRequest {
  private final Query query;

  private ListSuppressionsRequest(Builder builder) {
    this.query = new Query(builder.query);
  }

  /**
   * The way to a request.
   *
   * @return a builder for the first page of the whole list
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
    return "ListSuppressionsRequest" + query;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Query query = new Query();

    private Builder() {}

    /**
     * Only this address, in any spelling that the list treats as the same.
     *
     * @param address the address
     * @return this
     */
    public Builder address(String address) {
      query.put("address", address);
      return this;
    }

    /**
     * Only addresses with this reason.
     *
     * @param reason why they are on the list
     * @return this
     */
    public Builder reason(RejectionReason reason) {
      return reason(Query.valueOf(reason));
    }

    /**
     * The same, for a value that this version of the library does not know.
     *
     * @param reason as in the API
     * @return this
     */
    public Builder reason(String reason) {
      query.put("reason", reason);
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
     * How many addresses to list at most; 100 if this is not called.
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
    public ListSuppressionsRequest build() {
      return new ListSuppressionsRequest(this);
    }
  }
}
