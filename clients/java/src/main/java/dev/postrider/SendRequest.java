package dev.postrider;

import java.util.Collection;
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
    private final MessageBody body = new MessageBody();
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
      body.put("from", from);
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
      body.addAll("to", addresses);
      return this;
    }

    /**
     * Adds recipients of copies; the limit of 50 counts to, cc and bcc together. With cc or bcc all
     * recipients get a copy of one letter, which shows to and cc.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder cc(String... addresses) {
      return cc(List.of(addresses));
    }

    /**
     * Adds recipients of copies.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder cc(Collection<String> addresses) {
      body.addAll("cc", addresses);
      return this;
    }

    /**
     * Adds recipients of copies, who are shown to nobody.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder bcc(String... addresses) {
      return bcc(List.of(addresses));
    }

    /**
     * Adds recipients of copies, who are shown to nobody.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder bcc(Collection<String> addresses) {
      body.addAll("bcc", addresses);
      return this;
    }

    /**
     * Adds addresses that answers go to, up to 10.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder replyTo(String... addresses) {
      return replyTo(List.of(addresses));
    }

    /**
     * Adds addresses that answers go to, up to 10.
     *
     * @param addresses each like that of the sender
     * @return this
     */
    public Builder replyTo(Collection<String> addresses) {
      body.addAll("reply_to", addresses);
      return this;
    }

    /**
     * The subject.
     *
     * @param subject sent as it is, with a template, too
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
      String key = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
      if (key.isBlank() || !key.chars().allMatch(c -> c >= ' ' && c <= '~')) {
        throw Failure.invalidArgument(
            "The idempotency key is blank or has characters other than printable ASCII.");
      }
      return new SendRequest(body.fields(), key);
    }
  }
}
