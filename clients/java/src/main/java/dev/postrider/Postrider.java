package dev.postrider;

import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;

/**
 * The client of Postrider, a service that sends transactional e-mail. Make one for a key and share
 * it: it cannot be changed, and may be used by many threads at once.
 *
 * <pre>{@code
 * Postrider client = Postrider.create(); // POSTRIDER_API_KEY and POSTRIDER_BASE_URL
 * SendResult sent = client.emails().send(SendRequest.builder()
 *     .from("Shop <shop@mail.example.com>")
 *     .to("jo@example.org")
 *     .subject("Your order")
 *     .text("It is on its way.")
 *     .build());
 * }</pre>
 *
 * <p>Every failure is a {@link PostriderException}. A call is repeated up to three times after a
 * network failure, a timeout, a 429 and a 5xx; sending is safe to repeat because it always carries
 * an idempotency key. {@link Webhooks#rotate(String)} is repeated after a 429 only.
 */
public final class Postrider {
  /** The version of this library. */
  public static final String VERSION = "0.1.0";

  private static final Duration TOLERANCE = Duration.ofMinutes(5);

  private final Caller caller;

  private Postrider(Caller caller) {
    this.caller = caller;
  }

  /**
   * A client with the key and the address of the environment: {@code POSTRIDER_API_KEY} and {@code
   * POSTRIDER_BASE_URL}.
   *
   * @return the client
   * @throws PostriderException when one of them is missing or cannot be used
   */
  public static Postrider create() {
    return builder().build();
  }

  /**
   * The way to a client with options of its own.
   *
   * @return a builder that takes what it is not given from the environment
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Sends messages and shows what became of them.
   *
   * @return the calls
   */
  public Emails emails() {
    return new Emails(caller);
  }

  /**
   * Shows, moves and cancels calls of {@link Emails#send(SendRequest)} with all their messages.
   *
   * @return the calls
   */
  public Submissions submissions() {
    return new Submissions(caller);
  }

  /**
   * Manages the domains that you send from.
   *
   * @return the calls
   */
  public Domains domains() {
    return new Domains(caller);
  }

  /**
   * Manages the addresses that your events are sent to.
   *
   * @return the calls
   */
  public Webhooks webhooks() {
    return new Webhooks(caller);
  }

  /**
   * Manages stored contents.
   *
   * @return the calls
   */
  public Templates templates() {
    return new Templates(caller);
  }

  /**
   * Reads the feed of everything that happened to your messages.
   *
   * @return the calls
   */
  public Events events() {
    return new Events(caller);
  }

  /**
   * Manages the addresses that get no mail from you.
   *
   * @return the calls
   */
  public Suppressions suppressions() {
    return new Suppressions(caller);
  }

  /**
   * Counts what happened to your messages, by day or hour. Messages are counted when they are
   * accepted, everything else when it happens.
   *
   * @param request what to count
   * @return the sums
   * @throws PostriderException when the call failed
   */
  public Stats stats(StatsRequest request) {
    return new Stats(caller.call(Call.of("GET", "/stats" + request.query())));
  }

  /**
   * Asks whether the service is well. A service that answers that it is not is an answer, too.
   *
   * @return how it is
   * @throws PostriderException when it does not say
   */
  public Health health() {
    return new Health(caller.call(Call.health()));
  }

  /**
   * Checks by the secret of a webhook that a request comes from the service and is not an old copy
   * (Standard Webhooks 1.0), with a tolerance of five minutes.
   *
   * @param payload the raw body of the request, before anything has read and rewritten it
   * @param headers the request's headers, with names in any case; values are strings or lists of
   *     strings, so that what HTTP servers have can be given as it is
   * @param secret as the service gave it when the webhook was created
   * @return the event
   * @throws WebhookVerificationError when nothing of it should be believed
   */
  public static Event verifyWebhook(byte[] payload, Map<String, ?> headers, String secret) {
    return verifyWebhook(payload, headers, secret, TOLERANCE);
  }

  /**
   * The same for a body that was read as UTF-8.
   *
   * @param payload the raw body of the request
   * @param headers the request's headers
   * @param secret as the service gave it when the webhook was created
   * @return the event
   * @throws WebhookVerificationError when nothing of it should be believed
   */
  public static Event verifyWebhook(String payload, Map<String, ?> headers, String secret) {
    return verifyWebhook(payload, headers, secret, TOLERANCE);
  }

  /**
   * The same with another tolerance.
   *
   * @param payload the raw body of the request, as UTF-8
   * @param headers the request's headers
   * @param secret as the service gave it when the webhook was created
   * @param tolerance how far the time of the request may be away from now, in both directions
   * @return the event
   * @throws WebhookVerificationError when nothing of it should be believed
   */
  public static Event verifyWebhook(
      String payload, Map<String, ?> headers, String secret, Duration tolerance) {
    return verifyWebhook(payload.getBytes(StandardCharsets.UTF_8), headers, secret, tolerance);
  }

  /**
   * The same with another tolerance.
   *
   * @param payload the raw body of the request
   * @param headers the request's headers
   * @param secret as the service gave it when the webhook was created
   * @param tolerance how far the time of the request may be away from now, in both directions
   * @return the event
   * @throws WebhookVerificationError when nothing of it should be believed
   */
  public static Event verifyWebhook(
      byte[] payload, Map<String, ?> headers, String secret, Duration tolerance) {
    return new WebhookVerifier(secret, tolerance, Clock.systemUTC()).verify(payload, headers);
  }

  /** Names the client without its key. */
  @Override
  public String toString() {
    return "Postrider(" + caller.baseUrl() + ")";
  }

  /** Makes clients. */
  public static final class Builder {
    private String apiKey = System.getenv("POSTRIDER_API_KEY");
    private String baseUrl = System.getenv("POSTRIDER_BASE_URL");
    private int maxRetries = 3;
    private Duration timeout = Duration.ofSeconds(30);
    private HttpClient httpClient;

    private Builder() {}

    /**
     * The API key, in place of {@code POSTRIDER_API_KEY}.
     *
     * @param apiKey the key
     * @return this
     */
    public Builder apiKey(String apiKey) {
      this.apiKey = apiKey;
      return this;
    }

    /**
     * The address of the service, in place of {@code POSTRIDER_BASE_URL}.
     *
     * @param baseUrl for example {@code https://api.example.com}
     * @return this
     */
    public Builder baseUrl(String baseUrl) {
      this.baseUrl = baseUrl;
      return this;
    }

    /**
     * How often a call is repeated after its first attempt; 3 if this is not called.
     *
     * @param maxRetries 0 switches repeating off
     * @return this
     */
    public Builder maxRetries(int maxRetries) {
      this.maxRetries = maxRetries;
      return this;
    }

    /**
     * How long one attempt may take, from connecting to the last byte of the answer; 30 s if this
     * is not called.
     *
     * @param timeout longer than 0
     * @return this
     */
    public Builder timeout(Duration timeout) {
      this.timeout = timeout;
      return this;
    }

    /**
     * What requests go through, for a proxy or certificates of your own. It must not follow
     * redirects, because the key would travel with them.
     *
     * @param httpClient whose {@code followRedirects()} is {@code NEVER}, as it is by default
     * @return this
     */
    public Builder httpClient(HttpClient httpClient) {
      this.httpClient = httpClient;
      return this;
    }

    /**
     * Makes the client.
     *
     * @return a new one
     * @throws PostriderException when something is missing or cannot be used
     */
    public Postrider build() {
      Options options = options();
      if (httpClient != null && httpClient.followRedirects() != HttpClient.Redirect.NEVER) {
        throw Failure.invalidOption("The HTTP client follows redirects, and the key would with it.");
      }
      return new Postrider(new Caller(options, httpClient == null ? HttpClient.newHttpClient() : httpClient));
    }

    /** What the client is made with, checked. */
    Options options() {
      return new Options(apiKey, baseUrl, maxRetries, timeout);
    }
  }
}
