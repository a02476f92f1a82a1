package dev.postrider;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a webhook is to be; when one is updated, what is not given stays as it is. */
public final class WebhookRequest {
  private final Map<String, Object> body;

  private WebhookRequest(Map<String, Object> body) {
    this.body = Collections.unmodifiableMap(new LinkedHashMap<>(body));
  }

  /**
   * The way to a webhook.
   *
   * @return an empty builder
   */
  public static Builder builder() {
    return new Builder();
  }

  Map<String, Object> body() {
    return body;
  }

  @Override
  public String toString() {
    return "WebhookRequest" + body;
  }

  /** Makes requests. */
  public static final class Builder {
    private final Map<String, Object> body = new LinkedHashMap<>();

    private Builder() {}

    /**
     * The address; after an update it gets the events that are waiting, too.
     *
     * @param url http or https (recommended), without credentials and fragment
     * @return this
     */
    public Builder url(String url) {
      body.put("url", url);
      return this;
    }

    /**
     * A label of your own.
     *
     * @param description the label
     * @return this
     */
    public Builder description(String description) {
      body.put("description", description);
      return this;
    }

    /**
     * The events that it is sent; every event if there are none.
     *
     * @param events types and families, for example {@code bounce} or {@code email.complained}
     * @return this
     */
    public Builder events(String... events) {
      return events(List.of(events));
    }

    /**
     * The events that it is sent; every event if there are none.
     *
     * @param events types and families
     * @return this
     */
    public Builder events(Collection<String> events) {
      body.put("events", List.copyOf(events));
      return this;
    }

    /**
     * Makes the request.
     *
     * @return one that cannot be changed
     */
    public WebhookRequest build() {
      return new WebhookRequest(body);
    }
  }
}
