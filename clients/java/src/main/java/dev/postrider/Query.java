package dev.postrider;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The parameters of a list by their names in the API; what was not given has no entry. */
final class Query {
  private final Map<String, String> parameters = new LinkedHashMap<>();

  Query() {}

  /** Later changes of the other do not reach it. */
  Query(Query other) {
    parameters.putAll(other.parameters);
  }

  /** Null takes the parameter away. */
  void put(String name, Object value) {
    if (value == null) {
      parameters.remove(name);
    } else {
      parameters.put(name, value.toString());
    }
  }

  /** The constant's name in the API; null for null. */
  static String valueOf(Enum<?> constant) {
    return constant == null ? null : constant.name().toLowerCase(Locale.ROOT);
  }

  /** With its question mark; empty without parameters. */
  @Override
  public String toString() {
    String joined =
        parameters.entrySet().stream()
            .map(each -> each.getKey() + "=" + Call.percentEncode(each.getValue()))
            .collect(Collectors.joining("&"));
    return joined.isEmpty() ? "" : "?" + joined;
  }
}
