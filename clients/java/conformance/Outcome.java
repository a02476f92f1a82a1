import dev.postrider.ApiObject;
import dev.postrider.NetworkError;
import dev.postrider.PostriderException;
import dev.postrider.RateLimitError;
import dev.postrider.ValidationError;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** What a call gave, with the names of the API. */
final class Outcome {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final Set<String> NO_FIELDS = Set.of("asMap", "toJson", "toString", "hashCode", "getClass");

  private Outcome() {}

  /**
   * The typed answer as its accessors give it, and beside that what only asMap() has: so the cases
   * test the accessors, not only the JSON reader.
   */
  static Object fields(Object answer) {
    if (!(answer instanceof ApiObject)) {
      return plain(answer);
    }
    Map<String, Object> fields = new LinkedHashMap<>(((ApiObject) answer).asMap());
    for (Method method : answer.getClass().getMethods()) {
      boolean isAccessor = method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers());
      String name = snakeCase(method.getName());
      // What the service did not say has no place in the result.
      if (isAccessor && !NO_FIELDS.contains(method.getName()) && fields.containsKey(name)) {
        fields.put(name, valueOf(answer, method));
      }
    }
    return fields;
  }

  private static Object valueOf(Object answer, Method method) {
    try {
      Object value = method.invoke(answer);
      boolean isUnknown = value instanceof Enum && ((Enum<?>) value).name().equals("UNKNOWN");
      return isUnknown ? ((ApiObject) answer).asMap().get(snakeCase(method.getName())) : plain(value);
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object plain(Object value) {
    if (value instanceof Optional) {
      return ((Optional<?>) value).map(Outcome::plain).orElse(null);
    } else if (value instanceof Instant) {
      return TIME.format((Instant) value);
    } else if (value instanceof Enum) {
      return ((Enum<?>) value).name().toLowerCase(Locale.ROOT).replaceFirst("^email_", "email.");
    } else if (value instanceof Collection) {
      return ((Collection<?>) value).stream().map(Outcome::fields).collect(Collectors.toList());
    }
    return value instanceof ApiObject ? fields(value) : value;
  }

  /** Without the "is" of truth values. */
  private static String snakeCase(String name) {
    String words = name.replaceAll("([a-z])([A-Z])", "$1_$2").replaceAll("([A-Z])(64)", "$1$2");
    return words.toLowerCase(Locale.ROOT).replaceFirst("^is_", "");
  }

  static Map<String, Object> describe(PostriderException e) {
    Map<String, Object> described = new LinkedHashMap<>();
    String kind = e.getClass().getSimpleName();
    described.put("class", kind.equals("PostriderException") ? "PostriderError" : kind);
    described.put("base", true);
    described.put("status", e.status() == 0 ? null : e.status());
    described.put("code", e.code());
    described.put("message", e.getMessage());
    described.put("request_id", e.requestId().orElse(null));
    described.put("timeout", e instanceof NetworkError ? ((NetworkError) e).isTimeout() : null);
    described.put("retry_after", e instanceof RateLimitError ? seconds((RateLimitError) e) : null);
    described.put("index", e.index().orElse(null));
    boolean isInvalid = e instanceof ValidationError;
    described.put("domain", isInvalid ? ((ValidationError) e).domain().orElse(null) : null);
    described.put("check", isInvalid ? ((ValidationError) e).check().map(Outcome::fields).orElse(null) : null);
    described.put("text", stackTrace(e));
    return described;
  }

  static Map<String, Object> describeStranger(RuntimeException e) {
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("class", e.getClass().getSimpleName());
    described.put("base", false);
    described.put("message", String.valueOf(e.getMessage()));
    described.put("text", stackTrace(e));
    return described;
  }

  private static Long seconds(RateLimitError e) {
    return e.retryAfter().map(Duration::getSeconds).orElse(null);
  }

  private static String stackTrace(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text, true));
    return text.toString();
  }
}
