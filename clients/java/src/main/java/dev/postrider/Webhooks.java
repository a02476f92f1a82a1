package dev.postrider;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
    return create(url, null);
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
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("url", url);
    if (description != null) {
      body.put("description", description);
    }
    return new Webhook(caller.call(Call.of("POST", PATH, body)));
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
   * Ends a webhook: nothing is sent to it any more.
   *
   * @param id of the webhook
   * @throws PostriderException when there is none
   */
  public void delete(String id) {
    caller.callForNothing(Call.of("DELETE", Call.path(PATH, id)));
  }
}
