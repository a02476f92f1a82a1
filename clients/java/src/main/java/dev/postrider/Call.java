package dev.postrider;

import dev.postrider.internal.Json;
import dev.postrider.internal.JsonException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;

/** One call of the API, written once for all its attempts. */
final class Call {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private enum Kind {
    COMMON,
    HEALTH,
    NOT_TWICE
  }

  final String method;
  final String path;

  /** Null for none. */
  final byte[] body;

  /** Null for none. */
  final String idempotencyKey;

  private final Kind kind;

  private Call(String method, String path, byte[] body, String idempotencyKey, Kind kind) {
    this.method = method;
    this.path = path;
    this.body = body;
    this.idempotencyKey = idempotencyKey;
    this.kind = kind;
  }

  static Call of(String method, String path) {
    return new Call(method, path, null, null, Kind.COMMON);
  }

  static Call of(String method, String path, Map<String, ?> body) {
    return new Call(method, path, encode(body), null, Kind.COMMON);
  }

  static Call send(SendRequest request) {
    return new Call("POST", "/emails", request.body(), request.idempotencyKey(), Kind.COMMON);
  }

  static Call send(SendBatchRequest request) {
    return new Call("POST", "/emails/batch", request.body(), request.idempotencyKey(), Kind.COMMON);
  }

  /** One that is repeated only when the service says that it did nothing. */
  static Call notTwice(String method, String path) {
    return new Call(method, path, null, null, Kind.NOT_TWICE);
  }

  static Call health() {
    return new Call("GET", "/healthz", null, null, Kind.HEALTH);
  }

  /** The one call that needs no key, and whose 503 may be an answer. */
  boolean isHealth() {
    return kind == Kind.HEALTH;
  }

  /** A 429 did nothing; after any other failure the call may have happened. */
  boolean mayBeRepeatedAfter(PostriderException failure) {
    return kind != Kind.NOT_TWICE || failure instanceof RateLimitError;
  }

  static byte[] encode(Map<String, ?> body) {
    return json(body).getBytes(StandardCharsets.UTF_8);
  }

  static String json(Object value) {
    try {
      return Json.write(value);
    } catch (JsonException e) {
      throw Failure.invalidArgument(e.getMessage());
    }
  }

  /** RFC 3339 in UTC with milliseconds; null for null. */
  static String time(Instant at) {
    try {
      return at == null ? null : TIME.format(at);
    } catch (DateTimeException e) {
      throw Failure.invalidArgument("The time is too far away.");
    }
  }

  /** An empty id would address the whole list, and dots would climb out of it. */
  static String path(String collection, String id) {
    if (isNoSegment(id)) {
      throw Failure.invalidArgument("The id is empty, or dots that climb; pass the one that the service gave.");
    }
    return collection + "/" + percentEncode(id);
  }

  /** The same for an email address. */
  static String pathOfAddress(String collection, String address) {
    if (isNoSegment(address)) {
      throw Failure.invalidArgument("The address is empty or has dots only.");
    }
    return collection + "/" + percentEncode(address);
  }

  private static boolean isNoSegment(String text) {
    return text == null || text.isEmpty() || text.equals(".") || text.equals("..");
  }

  /** Not by URLEncoder, whose plus signs mean spaces in queries only. */
  static String percentEncode(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
      if (isUnreserved((char) (octet & 0xff))) {
        encoded.append((char) octet);
      } else {
        encoded.append(String.format("%%%02X", octet & 0xff));
      }
    }
    return encoded.toString();
  }

  /** RFC 3986 section 2.3. */
  private static boolean isUnreserved(char c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || "-._~".indexOf(c) >= 0;
  }
}
