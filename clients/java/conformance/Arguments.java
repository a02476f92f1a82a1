import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A JSON object with arguments. */
final class Arguments {
  private final Map<?, ?> values;

  Arguments(Object object) {
    this.values = (Map<?, ?>) object;
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  String text(String name) {
    return (String) values.get(name);
  }

  long number(String name) {
    return (Long) values.get(name);
  }

  /** The zone makes no difference: an Instant has none. */
  Instant time(String name) {
    return Instant.ofEpochMilli(object(name).number("unix_ms"));
  }

  Arguments object(String name) {
    return new Arguments(values.get(name));
  }

  /** None where there is no such list. */
  List<Arguments> objects(String name) {
    List<?> list = has(name) ? (List<?>) values.get(name) : List.of();
    return list.stream().map(Arguments::new).collect(Collectors.toList());
  }

  @SuppressWarnings("unchecked")
  Map<String, Object> map(String name) {
    return (Map<String, Object>) values.get(name);
  }

  @SuppressWarnings("unchecked")
  Map<String, String> texts(String name) {
    return (Map<String, String>) values.get(name);
  }

  @SuppressWarnings("unchecked")
  List<String> list(String name) {
    return (List<String>) values.get(name);
  }

  @SuppressWarnings("unchecked")
  List<String> oneOrMore(String name) {
    Object value = values.get(name);
    return value instanceof String ? List.of((String) value) : (List<String>) value;
  }
}
