package dev.postrider;

import java.util.List;

/** Manages the addresses that your events are sent to; see {@link Postrider#webhooks()}. */
public final class Webhooks {
  private static final String PATH = "/webhooks";

  private final Caller caller;

  Webhooks(Caller caller) {
    this.caller = caller;
  }

  /**
   * Registers an address without a label.
   *
   * @param url http or https (recommended), without credentials and fragment
   * @return the webhook with its secret, which no other answer shows
   * @throws PostriderException when it was refused
   */
  public Webhook create(String url) {
    return create(WebhookRequest.builder().url(url).build());
  }

  /**
   * Registers an address.
   *
   * @param url http or https (recommended), without credentials and fragment
   * @param description a label of your own; null for none
   * @return the webhook with its secret, which no other answer shows
   * @throws PostriderException when it was refused
   */
  public Webhook create(String url, String description) {
    return description == null
        ? create(url)
        : create(WebhookRequest.builder().url(url).description(description).build());
  }

  /**
   * Registers an address, for some events or all.
   *
   * @param request at least the URL
   * @return the webhook with its secret, which no other answer shows
   * @throws PostriderException when it was refused
   */
  public Webhook create(WebhookRequest request) {
    return new Webhook(caller.call(Call.of("POST", PATH, request.body())));
  }

  /**
   * Shows all webhooks.
   *
   * @return oldest first, without their secrets
   * @throws PostriderException when the call failed
   */
  public List<Webhook> list() {
    return caller.call(Call.of("GET", PATH)).objects("webhooks", Webhook::new);
  }

  /**
   * Shows one webhook.
   *
   * @param id of the webhook
   * @return the webhook, without its secret
   * @throws PostriderException when there is none
   */
  public Webhook get(String id) {
    return new Webhook(caller.call(Call.of("GET", Call.path(PATH, id))));
  }

  /**
   * Changes a webhook; its secret stays.
   *
   * @param id of the webhook
   * @param request what changes
   * @return the webhook as it is now, without its secret
   * @throws PostriderException when it was refused
   */
  public Webhook update(String id, WebhookRequest request) {
    return new Webhook(caller.call(Call.of("PATCH", Call.path(PATH, id), request.body())));
  }

  /**
   * Gives a webhook a new secret. For 24 hours the one before signs, too. This call is
   * repeated after a 429 only. After another error the secret may be a new one, which nobody knows:
   * rotate it again.
   *
   * @param id of the webhook
   * @return the webhook with its new secret, which no other answer shows
   * @throws PostriderException when the call failed
   */
  public Webhook rotate(String id) {
    return new Webhook(caller.call(Call.notTwice("POST", Call.path(PATH, id) + "/rotate")));
  }

  /**
   * Sends an event of the type {@link EventType#TEST} to a webhook and waits for the answer, up to
   * 15 s.
   *
   * @param id of the webhook
   * @return what the endpoint answered
   * @throws PostriderException when the call failed
   */
  public WebhookTest test(String id) {
    return new WebhookTest(caller.call(Call.of("POST", Call.path(PATH, id) + "/test")));
  }

  /**
   * Lists the events that a webhook was sent or is to be sent. Go on with {@link
   * WebhookDeliveryPage#next()} until there are no more.
   *
   * @param id of the webhook
   * @param request which of them
   * @return a page of deliveries
   * @throws PostriderException when the call failed
   */
  public WebhookDeliveryPage deliveries(String id, ListDeliveriesRequest request) {
    String path = Call.path(PATH, id) + "/deliveries" + request.query();
    return new WebhookDeliveryPage(caller.call(Call.of("GET", path)));
  }

  /**
   * Sends an event to a webhook again, with the same ID: whether it was delivered or has failed, and
   * even if the webhook did not ask for it.
   *
   * @param id of the webhook
   * @param eventId of the event
   * @return how far it has come
   * @throws PostriderException when the call failed
   */
  public WebhookReplay replay(String id, String eventId) {
    String path = Call.path(Call.path(PATH, id) + "/deliveries", eventId) + "/replay";
    return new WebhookReplay(caller.call(Call.of("POST", path)));
  }

  /**
   * Ends a webhook: nothing is sent to it any more.
   *
   * @param id of the webhook
   * @throws PostriderException when there is none
   */
  public void delete(String id) {
    caller.callForNothing(Call.of("DELETE", Call.path(PATH, id)));
  }
}
