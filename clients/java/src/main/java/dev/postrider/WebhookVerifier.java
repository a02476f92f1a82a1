package dev.postrider;

import dev.postrider.internal.Json;
import dev.postrider.internal.JsonException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies requests to a webhook: Standard Webhooks 1.0, its symmetric scheme (v1). */
final class WebhookVerifier {
  private static final String ALGORITHM = "HmacSHA256";

  /** What has more digits is as far in the future as this. */
  private static final int MAX_TIMESTAMP_DIGITS = 15;

  private final byte[] key;
  private final Duration tolerance;
  private final Clock clock;

  WebhookVerifier(String secret, Duration tolerance, Clock clock) {
    this.key = decodeSecret(secret);
    this.tolerance = tolerance;
    this.clock = clock;
  }

  Event verify(byte[] payload, Map<String, ?> headers) {
    String id = header(headers, "webhook-id");
    String timestamp = header(headers, "webhook-timestamp");
    String signatures = header(headers, "webhook-signature");
    if (!timestamp.matches("[0-9]+")) {
      throw failure("invalid_timestamp", "The header webhook-timestamp is not a number of seconds.");
    }
    checkAge(timestamp);
    if (!isAmong(signatures, sign(id + "." + timestamp + ".", payload))) {
      throw failure(
          "no_matching_signature",
          "No signature fits the payload: the secret is another webhook's, "
              + "or the payload is not the raw body.");
    }
    return readEvent(payload);
  }

  private static byte[] decodeSecret(String secret) {
    byte[] key = new byte[0];
    try {
      String given = secret == null ? "" : secret.strip(); // as of a variable of the environment that is not set
      key = Base64.getDecoder().decode(given.startsWith("whsec_") ? given.substring(6) : given);
    } catch (IllegalArgumentException e) {
      // Said below, without the cause, which shows a part of the secret.
    }
    if (key.length == 0) {
      throw failure(
          "invalid_secret",
          "The secret is not the base64 text that the service gave when the webhook was created.");
    }
    return key;
  }

  private static String header(Map<String, ?> headers, String name) {
    for (Map.Entry<String, ?> header : headers.entrySet()) {
      String value = name.equalsIgnoreCase(header.getKey()) ? joined(header.getValue()) : "";
      if (!value.isEmpty()) {
        return value;
      }
    }
    throw failure("missing_header", "The request has no header " + name + ".");
  }

  private static String joined(Object value) {
    if (!(value instanceof Iterable)) {
      return value == null ? "" : value.toString();
    }
    List<String> parts = new ArrayList<>();
    for (Object part : (Iterable<?>) value) {
      parts.add(String.valueOf(part));
    }
    return String.join(" ", parts);
  }

  private byte[] sign(String prefix, byte[] payload) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      mac.update(prefix.getBytes(StandardCharsets.UTF_8));
      String signature = Base64.getEncoder().encodeToString(mac.doFinal(payload));
      return ("v1," + signature).getBytes(StandardCharsets.UTF_8);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  /** While a secret is being replaced there are several signatures; one that fits is enough. */
  private static boolean isAmong(String signatures, byte[] expected) {
    boolean found = false;
    for (String signature : signatures.split(" ")) {
      found |= MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), expected);
    }
    return found;
  }

  private void checkAge(String timestamp) {
    boolean isHuge = timestamp.length() > MAX_TIMESTAMP_DIGITS;
    long seconds = isHuge ? Long.MAX_VALUE / 2 : Long.parseLong(timestamp);
    Duration age = Duration.ofSeconds(clock.instant().getEpochSecond() - seconds);
    if (age.compareTo(tolerance) > 0) {
      throw failure("timestamp_too_old", "The request is too old; it may be a copy.");
    }
    if (age.negated().compareTo(tolerance) > 0) {
      throw failure("timestamp_too_new", "The request is from the future; check the clock of this machine.");
    }
  }

  private static Event readEvent(byte[] payload) {
    try {
      return Fields.ofObject(Json.parse(payload)).map(Event::new).orElseThrow(WebhookVerifier::noEvent);
    } catch (JsonException e) {
      throw noEvent();
    }
  }

  private static WebhookVerificationError noEvent() {
    return failure("invalid_payload", "The payload is signed, but no event.");
  }

  private static WebhookVerificationError failure(String code, String message) {
    return new WebhookVerificationError(Failure.of(code, message));
  }
}
