package dev.postrider;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The fields of a JSON object, read as what they should be. One that is absent, null or of another
 * kind is null (an empty list, 0 or false): what a later version of the service says differently
 * must not hide the rest of its answer.
 */
final class Fields {
  private final Map<String, Object> values;

  Fields(Map<String, Object> values) {
    this.values = values;
  }

  static Optional<Fields> ofObject(Object value) {
    if (!(value instanceof Map)) {
      return Optional.empty();
    }
    // The reader makes maps with names as keys only.
    @SuppressWarnings("unchecked")
    Map<String, Object> object = (Map<String, Object>) value;
    return Optional.of(new Fields(object));
  }

  Map<String, Object> values() {
    return values;
  }

  String text(String name) {
    Object value = values.get(name);
    return value instanceof String ? (String) value : null;
  }

  /** In place of an empty one, too. */
  String textOr(String name, String otherwise) {
    String value = text(name);
    return value == null || value.isEmpty() ? otherwise : value;
  }

  /** Null where there is none. */
  Boolean flag(String name) {
    Object value = values.get(name);
    return value instanceof Boolean ? (Boolean) value : null;
  }

  boolean isTrue(String name) {
    return Boolean.TRUE.equals(values.get(name));
  }

  /** Not negative. */
  Optional<Long> wholeNumber(String name) {
    Object value = values.get(name);
    return value instanceof Long && (Long) value >= 0 ? Optional.of((Long) value) : Optional.empty();
  }

  Optional<Integer> smallNumber(String name) {
    return wholeNumber(name).filter(number -> number <= Integer.MAX_VALUE).map(Long::intValue);
  }

  Instant time(String name) {
    try {
      return Instant.parse(textOr(name, ""));
    } catch (DateTimeException e) {
      return null;
    }
  }

  <E extends Enum<E>> E constantOrNull(String name, Class<E> type, E unknown) {
    return values.get(name) == null ? null : constant(name, type, unknown);
  }

  /** The constant whose name this is in other letters, with dots as underscores. */
  <E extends Enum<E>> E constant(String name, Class<E> type, E unknown) {
    String wanted = textOr(name, "").toUpperCase(Locale.ROOT).replace('.', '_');
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(wanted)) {
        return constant;
      }
    }
    return unknown;
  }

  Optional<Fields> objectIn(String name) {
    return ofObject(values.get(name));
  }

  <T> T object(String name, Function<Fields, T> make) {
    return objectIn(name).map(make).orElse(null);
  }

  <T> List<T> objects(String name, Function<Fields, T> make) {
    List<T> made = new ArrayList<>();
    for (Object value : array(name)) {
      ofObject(value).map(make).ifPresent(made::add);
    }
    return Collections.unmodifiableList(made);
  }

  /** Null where there is no list. */
  List<String> textsOrNull(String name) {
    return values.get(name) instanceof List ? texts(name) : null;
  }

  List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    for (Object value : array(name)) {
      if (value instanceof String) {
        texts.add((String) value);
      }
    }
    return Collections.unmodifiableList(texts);
  }

  /** Null where there is no object. The names are the caller's. */
  Map<String, String> textsByName(String name) {
    return objectIn(name).map(object -> onlyTexts(object.values())).orElse(null);
  }

  private static Map<String, String> onlyTexts(Map<String, Object> object) {
    Map<String, String> texts = new LinkedHashMap<>();
    object.forEach(
        (key, value) -> {
          if (value instanceof String) {
            texts.put(key, (String) value);
          }
        });
    return Collections.unmodifiableMap(texts);
  }

  private List<?> array(String name) {
    Object value = values.get(name);
    return value instanceof List ? (List<?>) value : List.of();
  }
}
