package dev.postrider;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The fields of a message by their names in the API; what was not given has no entry. */
final class MessageBody {
  private final Map<String, Object> fields = new LinkedHashMap<>();
  private final Map<String, List<Object>> lists = new LinkedHashMap<>();
  private final Map<String, Map<String, Object>> maps = new LinkedHashMap<>();

  void put(String name, Object value) {
    fields.put(name, value);
  }

  void addAll(String name, Collection<?> values) {
    lists.computeIfAbsent(name, any -> new ArrayList<>()).addAll(values);
  }

  void putAll(String name, Map<String, ?> values) {
    maps.computeIfAbsent(name, any -> new LinkedHashMap<>()).putAll(values);
  }

  /** Single values first, then the recipients, which are always there, then the rest. */
  Map<String, Object> fields() {
    Map<String, Object> all = new LinkedHashMap<>(fields);
    all.put("to", lists.getOrDefault("to", List.of()));
    if (maps.containsKey("headers")) {
      all.put("headers", maps.get("headers"));
    }
    lists.forEach(all::putIfAbsent);
    maps.forEach(all::putIfAbsent);
    return all;
  }
}
