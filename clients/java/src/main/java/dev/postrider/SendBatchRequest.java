package dev.postrider;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Messages to send with one call. */
public final class SendBatchRequest {
  private final byte[] body;
  private final int size;
  private final IdempotencyKey idempotencyKey;

  private SendBatchRequest(Builder builder) {
    this.body = builder.json().getBytes(StandardCharsets.UTF_8);
    this.size = builder.emails.size();
    this.idempotencyKey = new IdempotencyKey(builder.idempotencyKey);
  }

  /**
   * The way to a batch.
   *
   * @return an empty builder
   */
  public static Builder builder() {
    return new Builder();
  }

  byte[] body() {
    return body;
  }

  /**
   * What names this batch.
   *
   * @return the key that was given, or the random one that the batch got when it was built: the
   *     same object can be sent again without being delivered twice
   */
  public String idempotencyKey() {
    return idempotencyKey.text();
  }

  /** The number of messages. */
  @Override
  public String toString() {
    return "SendBatchRequest(" + size + " emails)";
  }

  /** Makes batches. */
  public static final class Builder {
    private final List<String> emails = new ArrayList<>();
    private String onError;
    private String idempotencyKey;

    private Builder() {}

    /**
     * Adds messages. There may be up to 100, with at most 1,000 recipients in all.
     *
     * @param emails without idempotency keys of their own
     * @return this
     * @throws PostriderException when one has an idempotency key
     */
    public Builder emails(SendRequest... emails) {
      return emails(List.of(emails));
    }

    /**
     * Adds messages.
     *
     * @param emails without idempotency keys of their own
     * @return this
     * @throws PostriderException when one has an idempotency key
     */
    public Builder emails(Collection<SendRequest> emails) {
      for (SendRequest email : emails) {
        if (email.hasKeyOfCaller()) {
          throw Failure.invalidArgument(
              "A message of a batch can't have an idempotency key; give the batch one.");
        }
        this.emails.add(new String(email.body(), StandardCharsets.UTF_8));
      }
      return this;
    }

    /**
     * What a fault in one message does. Without this, the first fault refuses the whole batch, and
     * {@link PostriderException#index()} says which message has it.
     *
     * @param onError what to do
     * @return this
     */
    public Builder onError(OnError onError) {
      return onError(Query.valueOf(onError));
    }

    /**
     * What a fault in one message does, for a value that this version of the library does not know.
     *
     * @param onError as in the API
     * @return this
     */
    public Builder onError(String onError) {
      this.onError = onError;
      return this;
    }

    /**
     * A name of your own for the whole batch: what was accepted once with a key is not sent again,
     * by whichever program. Without one, each batch gets a random key when it is built.
     *
     * @param idempotencyKey up to 200 printable ASCII characters
     * @return this
     */
    public Builder idempotencyKey(String idempotencyKey) {
      this.idempotencyKey = idempotencyKey;
      return this;
    }

    /**
     * Makes the batch.
     *
     * @return one that cannot be changed
     * @throws PostriderException when the idempotency key cannot be sent
     */
    public SendBatchRequest build() {
      return new SendBatchRequest(this);
    }

    /** The messages are JSON already. */
    private String json() {
      String list = "{\"emails\":[" + String.join(",", emails) + "]";
      return list + (onError == null ? "}" : ",\"on_error\":" + Call.json(onError) + "}");
    }
  }
}
