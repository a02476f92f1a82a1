package dev.postrider;

import static dev.postrider.Check.equal;
import static dev.postrider.Check.thrown;

import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

/** The verifier at the edges of its time, and with headers as servers have them. */
public final class WebhookVerifierTest {
  // The vector of the Standard Webhooks specification.
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final byte[] PAYLOAD = "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8);
  private static final long SENT_AT = 1614265330;
  private static final Map<String, ?> HEADERS =
      Map.of(
          "Webhook-Id", List.of("msg_p5jXN8AQM9LWM0D4loKWxJek"),
          "Webhook-Timestamp", List.of("1614265330"),
          "Webhook-Signature", List.of("v1,AAAA", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));

  public void testAcceptsUpToTheTolerance() {
    for (long seconds : new long[] {-300, -1, 0, 300}) {
      equal(verify(SENT_AT + seconds, HEADERS).toJson(), "{\"test\":2432232314}");
    }
  }

  public void testRefusesBeyondTheTolerance() {
    equal(refused(SENT_AT + 301, HEADERS), "timestamp_too_old");
    equal(refused(SENT_AT - 301, HEADERS), "timestamp_too_new");
  }

  public void testTakesHeadersWithoutValuesAsMissing() {
    equal(refused(SENT_AT, Map.of("webhook-id", List.of())), "missing_header");
    equal(refused(SENT_AT, Map.of("content-type", "text/plain")), "missing_header");
  }

  public void testASecretThatIsNotThereIsSaid() {
    WebhookVerificationError e =
        thrown(WebhookVerificationError.class, () -> Postrider.verifyWebhook(PAYLOAD, HEADERS, null));
    equal(e.code(), "invalid_secret");
  }

  public void testAnAnswerIsPrintedWithoutItsSecret() {
    Webhook webhook = new Webhook(new Fields(Map.of("secret", "c2VjcmV0")));
    equal(webhook.toString(), "Webhook{\"secret\":\"(hidden)\"}");
    equal(webhook.secret().orElse(null), "c2VjcmV0");
  }

  private static Event verify(long now, Map<String, ?> headers) {
    Clock clock = Clock.fixed(Instant.ofEpochSecond(now), ZoneOffset.UTC);
    return new WebhookVerifier(SECRET, Duration.ofMinutes(5), clock).verify(PAYLOAD, headers);
  }

  private static String refused(long now, Map<String, ?> headers) {
    return thrown(WebhookVerificationError.class, () -> verify(now, headers)).code();
  }
}
