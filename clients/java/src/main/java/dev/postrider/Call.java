package dev.postrider;

import dev.postrider.internal.Json;
import dev.postrider.internal.JsonException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** One call of the API, written once for all its attempts. */
final class Call {
  final String method;
  final String path;

  /** Null for none. */
  final byte[] body;

  /** Null for none. */
  final String idempotencyKey;

  /** The one call that needs no key, and whose 503 may be an answer. */
  final boolean isHealth;

  private Call(String method, String path, byte[] body, String idempotencyKey, boolean isHealth) {
    this.method = method;
    this.path = path;
    this.body = body;
    this.idempotencyKey = idempotencyKey;
    this.isHealth = isHealth;
  }

  static Call of(String method, String path) {
    return new Call(method, path, null, null, false);
  }

  static Call of(String method, String path, Map<String, ?> body) {
    return new Call(method, path, encode(body), null, false);
  }

  static Call send(SendRequest request) {
    return new Call("POST", "/emails", request.body(), request.idempotencyKey(), false);
  }

  static Call health() {
    return new Call("GET", "/healthz", null, null, true);
  }

  static byte[] encode(Map<String, ?> body) {
    try {
      return Json.write(body).getBytes(StandardCharsets.UTF_8);
    } catch (JsonException e) {
      throw Failure.invalidArgument(e.getMessage());
    }
  }

  /** An empty id would address the whole list, and dots would climb out of it. */
  static String path(String collection, String id) {
    if (id == null || id.isEmpty() || id.equals(".") || id.equals("..")) {
      throw Failure.invalidArgument("The id is empty, or dots that climb; pass the one that the service gave.");
    }
    return collection + "/" + percentEncode(id);
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
