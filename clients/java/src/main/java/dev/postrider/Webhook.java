package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** An address that your events are sent to. */
public final class Webhook extends ApiObject {
  private final String id;
  private final String url;
  private final String description;
  private final Instant createdAt;
  private final String secret;

  Webhook(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.url = fields.text("url");
    this.description = fields.text("description");
    this.createdAt = fields.time("created_at");
    this.secret = fields.text("secret");
  }

  /**
   * The id.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * The address.
   *
   * @return http or https
   */
  public String url() {
    return url;
  }

  /**
   * A label of your own.
   *
   * @return empty when there is none
   */
  public Optional<String> description() {
    return Optional.ofNullable(description);
  }

  /**
   * When it was created.
   *
   * @return a time with milliseconds
   */
  public Instant createdAt() {
    return createdAt;
  }

  /**
   * What {@link Postrider#verifyWebhook(byte[], java.util.Map, String)} needs. Keep it: no other
   *     answer shows it.
   *
   * @return empty but in the answer of {@link Webhooks#create(String)}
   */
  public Optional<String> secret() {
    return Optional.ofNullable(secret);
  }
}
