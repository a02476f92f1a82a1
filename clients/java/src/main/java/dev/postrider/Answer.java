package dev.postrider;

import dev.postrider.internal.Json;
import dev.postrider.internal.JsonException;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** What came back from one attempt. */
final class Answer {
  private final int status;
  private final HttpHeaders headers;
  private final byte[] body;

  Answer(int status, HttpHeaders headers, byte[] body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  int status() {
    return status;
  }

  String requestId() {
    return headers.firstValue("X-Request-Id").filter(id -> !id.isEmpty()).orElse(null);
  }

  /** Null when there is none. */
  Integer index() {
    return object().flatMap(fields -> fields.smallNumber("index")).orElse(null);
  }

  boolean isSuccess() {
    return status >= 200 && status < 300;
  }

  /** The answer to a call that succeeded. */
  Fields fields() {
    String message = "The answer is not the JSON object that was expected; check the base URL.";
    return object().orElseThrow(() -> unreadable(message));
  }

  PostriderException unreadable(String message) {
    return new PostriderException(Failure.of(this, "http_" + status, message));
  }

  private Optional<Fields> object() {
    try {
      return Fields.ofObject(Json.parse(body));
    } catch (JsonException e) {
      return Optional.empty();
    }
  }

  /** Whether it is the answer of the health check that says by a 503 how the service is. */
  boolean isUnhealthy() {
    return status == 503
        && object().map(fields -> "db_unreachable".equals(fields.textOr("status", ""))).orElse(false);
  }

  /**
   * The pause that a 429 asks for, in the header or else in the body. A date, which RFC 9110 allows
   * too, the service never gives.
   */
  Optional<Duration> retryAfter() {
    String inHeader = headers.firstValue("Retry-After").orElse("").trim();
    // Nine digits are 31 years.
    if (inHeader.matches("[0-9]{1,9}")) {
      return Optional.of(Duration.ofSeconds(Long.parseLong(inHeader)));
    }
    return object()
        .flatMap(fields -> fields.wholeNumber("retry_after_secs"))
        .filter(seconds -> seconds >= 0 && seconds <= 999_999_999L)
        .map(Duration::ofSeconds);
  }

  /** The exception for an answer that is not a success. */
  PostriderException refusal() {
    // What comes from a proxy may be no JSON at all, or JSON of another kind.
    Fields error = object().orElse(new Fields(Map.of()));
    String code = error.textOr("error", "http_" + status);
    Failure failure = Failure.of(this, code, error.textOr("message", plainMessage()));
    if (status == 401) {
      return new AuthError(failure);
    } else if (status == 403 && code.equals("scope_required")) {
      return new ScopeError(failure);
    } else if (status == 403 && code.equals("tenant_not_active")) {
      return new TenantNotActiveError(failure);
    } else if (status == 429) {
      return new RateLimitError(failure, retryAfter().orElse(null));
    } else if (status >= 400 && status < 500) {
      DomainCheck check = error.objectIn("check").map(DomainCheck::new).orElse(null);
      return new ValidationError(failure, error.textOr("domain", null), check);
    } else if (status >= 500) {
      return new ServerError(failure);
    }
    return new PostriderException(failure);
  }

  private String plainMessage() {
    if (status >= 300 && status < 400) {
      return "The answer is a redirect (" + status + "), which is not followed; check the base URL.";
    }
    return "The answer is a " + status + " without a message of the service; a proxy may have sent it.";
  }
}
