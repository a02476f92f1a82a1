package dev.postrider;

import dev.postrider.internal.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/** What all typed answers have in common: they cannot be changed, and keep what they came from. */
public abstract class ApiObject {
  private final Map<String, Object> values;

  ApiObject(Fields fields) {
    this.values = fields.values();
  }

  /**
   * All fields as the service gave them, by their names in the API, with those that this version of
   * the library does not know.
   *
   * @return a map that cannot be changed; its values are strings, numbers ({@code Long} or {@code
   *     BigDecimal}), booleans, lists, maps and null
   */
  public final Map<String, Object> asMap() {
    return values;
  }

  /**
   * The same as JSON, for a log or a database. That of a webhook that was just created has its
   * secret in it.
   *
   * @return one line
   */
  public final String toJson() {
    return Json.write(values);
  }

  @Override
  public final boolean equals(Object other) {
    return other != null && other.getClass() == getClass() && ((ApiObject) other).values.equals(values);
  }

  @Override
  public final int hashCode() {
    return values.hashCode();
  }

  /** The class and its fields, without secrets. */
  @Override
  public final String toString() {
    Map<String, Object> shown = new LinkedHashMap<>(values);
    shown.replace("secret", "(hidden)");
    return getClass().getSimpleName() + Json.write(shown);
  }
}
