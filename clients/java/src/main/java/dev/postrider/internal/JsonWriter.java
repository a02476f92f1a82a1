package dev.postrider.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Writes one JSON text. */
final class JsonWriter {
  private static final List<Class<? extends Number>> WHOLE_OR_EXACT =
      List.of(
          Integer.class,
          Long.class,
          Short.class,
          Byte.class,
          BigInteger.class,
          BigDecimal.class,
          AtomicInteger.class,
          AtomicLong.class);
  private static final int SHOWN_OF_PATH = 40;

  private final StringBuilder out = new StringBuilder();

  String text() {
    return out.toString();
  }

  /** The path says where a value stands that cannot be written. */
  void write(Object value, String path, int depth) {
    if (depth > Json.MAX_DEPTH) {
      String beginning = path.substring(0, Math.min(path.length(), SHOWN_OF_PATH));
      throw new JsonException(beginning + "…: the nesting is too deep, or the value contains itself");
    }
    if (value == null || value instanceof Boolean) {
      out.append(value);
    } else if (value instanceof CharSequence) {
      writeString(value.toString());
    } else if (value instanceof Number) {
      writeNumber((Number) value, path);
    } else if (value instanceof Map) {
      writeObject((Map<?, ?>) value, path, depth);
    } else if (value instanceof Iterable) {
      writeArray((Iterable<?>) value, path, depth);
    } else if (value instanceof Object[]) {
      writeArray(Arrays.asList((Object[]) value), path, depth);
    } else {
      throw new JsonException(path + ": a " + value.getClass().getName() + " cannot be written as JSON");
    }
  }

  private void writeObject(Map<?, ?> object, String path, int depth) {
    out.append('{');
    String separator = "";
    for (Map.Entry<?, ?> entry : object.entrySet()) {
      if (!(entry.getKey() instanceof CharSequence)) {
        throw new JsonException(path + ": a name in JSON is a string");
      }
      String name = entry.getKey().toString();
      out.append(separator);
      separator = ",";
      writeString(name);
      out.append(':');
      write(entry.getValue(), path.isEmpty() ? name : path + "." + name, depth + 1);
    }
    out.append('}');
  }

  private void writeArray(Iterable<?> array, String path, int depth) {
    out.append('[');
    int index = 0;
    for (Object value : array) {
      if (index > 0) {
        out.append(',');
      }
      write(value, path + "[" + index++ + "]", depth + 1);
    }
    out.append(']');
  }

  private void writeNumber(Number number, String path) {
    boolean isReal = number instanceof Double || number instanceof Float;
    if (isReal && !Double.isFinite(number.doubleValue())) {
      throw new JsonException(path + ": JSON has no " + number);
    }
    // A Number that nobody here knows may print as anything.
    if (!isReal && WHOLE_OR_EXACT.stream().noneMatch(type -> type.isInstance(number))) {
      throw new JsonException(path + ": a " + number.getClass().getName() + " cannot be written as JSON");
    }
    out.append(number);
  }

  private void writeString(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || isHalfPair(text, i)) {
        // Half a pair has no form in UTF-8; escaped, the service sees it and says which field it is in.
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private static boolean isHalfPair(String text, int at) {
    char c = text.charAt(at);
    if (Character.isHighSurrogate(c)) {
      return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
    }
    return Character.isLowSurrogate(c) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
  }
}
