package dev.postrider;

/** An event that is sent to a webhook again. */
public final class WebhookReplay extends ApiObject {
  private final String webhookId;
  private final String eventId;
  private final WebhookDeliveryState state;

  WebhookReplay(Fields fields) {
    super(fields);
    this.webhookId = fields.text("webhook_id");
    this.eventId = fields.text("event_id");
    this.state = fields.constant("state", WebhookDeliveryState.class, WebhookDeliveryState.UNKNOWN);
  }

  /**
   * The ID of the webhook.
   *
   * @return a UUID
   */
  public String webhookId() {
    return webhookId;
  }

  /**
   * The ID of the event.
   *
   * @return the same as before
   */
  public String eventId() {
    return eventId;
  }

  /**
   * How far it has come.
   *
   * @return due
   */
  public WebhookDeliveryState state() {
    return state;
  }
}
