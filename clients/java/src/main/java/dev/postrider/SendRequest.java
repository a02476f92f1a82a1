package dev.postrider;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** What to send to whom. */
public final class SendRequest {
  /** Written when it is built: later changes of what it was built from do not reach it. */
  private final byte[] body;

  private final String summary;
  private final String idempotencyKey;

  private SendRequest(Map<String, Object> fields, String idempotencyKey) {
    this.body = Call.encode(fields);
    this.summary = fields.get("from") + " to " + fields.get("to") + ": " + fields.get("subject");
    this.idempotencyKey = idempotencyKey;
  }

  /**
   * The way to a message.
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
   * What names this message.
   *
   * @return the key that was given, or the random one that the message got when it was built: the
   *     same object can be sent again without being delivered twice
   */
  public String idempotencyKey() {
    return idempotencyKey;
  }

  /** Sender, recipients and subject; the contents may be long, and secret. */
  @Override
  public String toString() {
    return "SendRequest(" + summary + ")";
  }

  /** Makes messages. */
  public static final class Builder {
    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final List<String> to = new ArrayList<>();
    private Map<String, String> headers;
    private String idempotencyKey;

    private Builder() {}

    /**
     * The sender.
     *
     * @param from {@code addr@domain} or {@code Name <addr@domain>}; the domain is a verified one of
     *     yours
     * @return this
     */
    public Builder from(String from) {
      fields.put("from", from);
      return this;
    }

    /**
     * Adds recipients. There may be up to 50; each gets a message of their own that shows nobody
     * else.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder to(String... addresses) {
      return to(List.of(addresses));
    }

    /**
     * Adds recipients.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder to(Collection<String> addresses) {
      to.addAll(addresses);
      return this;
    }

    /**
     * The subject.
     *
     * @param subject sent as it is, with a template, too
     * @return this
     */
    public Builder subject(String subject) {
      fields.put("subject", subject);
      return this;
    }

    /**
     * The HTML part; at least one of the two parts is needed, unless there is a template.
     *
     * @param html the part
     * @return this
     */
    public Builder html(String html) {
      fields.put("html", html);
      return this;
    }

    /**
     * The text part; at least one of the two parts is needed, unless there is a template.
     *
     * @param text the part
     * @return this
     */
    public Builder text(String text) {
      fields.put("text", text);
      return this;
    }

    /**
     * A stored template in place of both parts.
     *
     * @param templateId its id
     * @return this
     */
    public Builder templateId(String templateId) {
      fields.put("template_id", templateId);
      return this;
    }

    /**
     * What the template is filled in with.
     *
     * @param data names with strings, numbers, booleans, lists, maps or null
     * @return this
     */
    public Builder data(Map<String, ?> data) {
      fields.put("data", data);
      return this;
    }

    /**
     * Adds an extra header field.
     *
     * @param name of the field
     * @param value of the field
     * @return this
     */
    public Builder header(String name, String value) {
      return headers(Map.of(name, value));
    }

    /**
     * Adds extra header fields.
     *
     * @param headers names and values
     * @return this
     */
    public Builder headers(Map<String, String> headers) {
      if (this.headers == null) {
        this.headers = new LinkedHashMap<>();
      }
      this.headers.putAll(headers);
      return this;
    }

    /**
     * A name of your own for this message: what was accepted once with a key is not sent again, by
     * whichever program. Without one, each message gets a random key when it is built.
     *
     * @param idempotencyKey up to 200 printable ASCII characters
     * @return this
     */
    public Builder idempotencyKey(String idempotencyKey) {
      this.idempotencyKey = idempotencyKey;
      return this;
    }

    /**
     * Makes the message.
     *
     * @return one that cannot be changed
     * @throws PostriderException when the idempotency key or the data cannot be sent
     */
    public SendRequest build() {
      Map<String, Object> body = new LinkedHashMap<>(fields);
      body.put("to", to);
      if (headers != null) {
        body.put("headers", headers);
      }
      String key = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
      if (key.isBlank() || !key.chars().allMatch(c -> c >= ' ' && c <= '~')) {
        throw Failure.invalidArgument(
            "The idempotency key is blank or has characters other than printable ASCII.");
      }
      return new SendRequest(body, key);
    }
  }
}
