package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** The delivery of one event to a webhook. */
public final class WebhookDelivery extends ApiObject {
  private final String eventId;
  private final EventType type;
  private final WebhookDeliveryState state;
  private final int attempts;
  private final Instant nextAttemptAt;
  private final Instant finishedAt;
  private final WebhookAttempt lastAttempt;

  WebhookDelivery(Fields fields) {
    super(fields);
    this.eventId = fields.text("event_id");
    this.type = fields.constant("type", EventType.class, EventType.UNKNOWN);
    this.state = fields.constant("state", WebhookDeliveryState.class, WebhookDeliveryState.UNKNOWN);
    this.attempts = fields.smallNumber("attempts").orElse(0);
    this.nextAttemptAt = fields.time("next_attempt_at");
    this.finishedAt = fields.time("finished_at");
    this.lastAttempt = fields.object("last_attempt", WebhookAttempt::new);
  }

  /**
   * The ID of the event.
   *
   * @return a UUID
   */
  public String eventId() {
    return eventId;
  }

  /**
   * What happened.
   *
   * @return the type
   */
  public EventType type() {
    return type;
  }

  /**
   * How far it has come.
   *
   * @return the state
   */
  public WebhookDeliveryState state() {
    return state;
  }

  /**
   * How many attempts there were, over all replays, one in progress included.
   *
   * @return a count
   */
  public int attempts() {
    return attempts;
  }

  /**
   * When it is attempted next.
   *
   * @return empty when it has ended or is in progress
   */
  public Optional<Instant> nextAttemptAt() {
    return Optional.ofNullable(nextAttemptAt);
  }

  /**
   * When it was delivered or had failed.
   *
   * @return empty until then
   */
  public Optional<Instant> finishedAt() {
    return Optional.ofNullable(finishedAt);
  }

  /**
   * The last attempt that has ended.
   *
   * @return empty when there is none
   */
  public Optional<WebhookAttempt> lastAttempt() {
    return Optional.ofNullable(lastAttempt);
  }
}
