package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** An address that your events are sent to. */
public final class Webhook extends ApiObject {
  private final String id;
  private final String url;
  private final String description;
  private final Instant createdAt;
  private final List<String> events;
  private final String secret;
  private final Instant previousUntil;

  Webhook(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.url = fields.text("url");
    this.description = fields.text("description");
    this.createdAt = fields.time("created_at");
    this.events = fields.textsOrNull("events");
    this.secret = fields.text("secret");
    this.previousUntil = fields.time("previous_until");
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
   * The types and families that it is sent.
   *
   * @return empty when it is sent every event
   */
  public Optional<List<String>> events() {
    return Optional.ofNullable(events);
  }

  /**
   * What {@link Postrider#verifyWebhook(byte[], java.util.Map, String)} needs. Keep it: no other
   *     answer shows it.
   *
   * @return empty but in the answers of {@link Webhooks#create(String)} and {@link
   *     Webhooks#rotate(String)}
   */
  public Optional<String> secret() {
    return Optional.ofNullable(secret);
  }

  /**
   * Until when the secret before signs, too.
   *
   * @return empty but in the answer of {@link Webhooks#rotate(String)}
   */
  public Optional<Instant> previousUntil() {
    return Optional.ofNullable(previousUntil);
  }
}
