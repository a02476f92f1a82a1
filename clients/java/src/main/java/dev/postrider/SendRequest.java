package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What to send to whom. */
public final class SendRequest {
  /** Written when it is built: later changes of what it was built from do not reach it. */
  private final byte[] body;

  private final String summary;
  private final IdempotencyKey idempotencyKey;

  private SendRequest(Map<String, Object> fields, IdempotencyKey idempotencyKey) {
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
    return idempotencyKey.text();
  }

  /** Whether the caller gave the key. */
  boolean hasKeyOfCaller() {
    return idempotencyKey.isOfCaller();
  }

  /** Sender, recipients and subject; the contents may be long, and secret. */
  @Override
  public String toString() {
    return "SendRequest(" + summary + ")";
  }

  /** Makes messages. */
  public static final class Builder extends AddressedBuilder<Builder> {
    private String idempotencyKey;

    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * The subject.
     *
     * @param subject sent as it is, with a template, too; not needed when the template has one
     * @return this
     */
    public Builder subject(String subject) {
      body.put("subject", subject);
      return this;
    }

    /**
     * The HTML part; at least one of the two parts is needed, unless there is a template.
     *
     * @param html the part
     * @return this
     */
    public Builder html(String html) {
      body.put("html", html);
      return this;
    }

    /**
     * The text part; at least one of the two parts is needed, unless there is a template.
     *
     * @param text the part
     * @return this
     */
    public Builder text(String text) {
      body.put("text", text);
      return this;
    }

    /**
     * A stored template in place of both parts.
     *
     * @param templateId its id
     * @return this
     */
    public Builder templateId(String templateId) {
      body.put("template_id", templateId);
      return this;
    }

    /**
     * What the template is filled in with.
     *
     * @param data names with strings, numbers, booleans, lists, maps or null
     * @return this
     */
    public Builder data(Map<String, ?> data) {
      body.put("data", data);
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
      body.putAll("headers", headers);
      return this;
    }

    /**
     * Adds attachments, up to 50; the whole call has at most 5 MiB.
     *
     * @param attachments the files
     * @return this
     */
    public Builder attachments(Attachment... attachments) {
      List.of(attachments).forEach(each -> body.addAll("attachments", List.of(each.fields())));
      return this;
    }

    /**
     * Adds tags, up to 10, of ASCII letters, digits, {@code _} and {@code -}.
     *
     * @param tags names and values; they are in every event of the messages
     * @return this
     */
    public Builder tags(Map<String, String> tags) {
      body.putAll("tags", tags);
      return this;
    }

    /**
     * Adds up to 20 texts of your own.
     *
     * @param metadata names and texts; they are in every event of the messages
     * @return this
     */
    public Builder metadata(Map<String, String> metadata) {
      body.putAll("metadata", metadata);
      return this;
    }

    /**
     * Whether opens are tracked, in place of the account's setting.
     *
     * @param opens true or false for this message
     * @return this
     */
    public Builder trackOpens(boolean opens) {
      body.putAll("tracking", Map.of("opens", opens));
      return this;
    }

    /**
     * Whether clicks are tracked, in place of the account's setting.
     *
     * @param clicks true or false for this message
     * @return this
     */
    public Builder trackClicks(boolean clicks) {
      body.putAll("tracking", Map.of("clicks", clicks));
      return this;
    }

    /**
     * Sends it later; see {@link Submissions#move(String, Instant)} and {@link
     * Submissions#cancel(String)}.
     *
     * @param sendAt at most 30 days ahead
     * @return this
     */
    public Builder sendAt(Instant sendAt) {
      return sendAt(Call.time(sendAt));
    }

    /**
     * Sends it later, for those who have the time as text.
     *
     * @param sendAt RFC 3339 with an offset, for example {@code 2026-12-24T18:00:00+01:00}; it is
     *     sent as it is
     * @return this
     */
    public Builder sendAt(String sendAt) {
      body.put("send_at", sendAt);
      return this;
    }

    /**
     * A name of your own for this message: what was accepted once with a key is not sent again, by
     * whichever program. Without one, each message gets a random key when it is built. A message of
     * a batch has none; give the batch one.
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
      return new SendRequest(body.fields(), new IdempotencyKey(idempotencyKey));
    }
  }
}
