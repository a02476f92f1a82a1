package dev.postrider.internal;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * JSON (RFC 8259) in both directions, as strict as the standard. Objects are maps in the order of
 * the text, arrays lists, whole numbers {@code Long} or, beyond that, {@code BigDecimal}, as all
 * other numbers are. Not part of the library's interface: it may change in any version.
 */
public final class Json {
  /** Deeper values are refused in both directions: reader and writer call themselves. */
  public static final int MAX_DEPTH = 500;

  private Json() {}

  /**
   * Reads one value that is the whole text.
   *
   * @param text what to read
   * @return a map, list, string, number, boolean or null, none of which can be changed
   * @throws JsonException when it is no JSON
   */
  public static Object parse(String text) {
    return new JsonReader(text).readWhole();
  }

  /**
   * Reads one value out of UTF-8.
   *
   * @param utf8 what to read
   * @return as {@link #parse(String)}
   * @throws JsonException when it is no JSON, or not UTF-8
   */
  public static Object parse(byte[] utf8) {
    try {
      return parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString());
    } catch (CharacterCodingException e) {
      throw new JsonException("the text is not UTF-8");
    }
  }

  /**
   * Writes a value without white space.
   *
   * @param value null, a string, boolean, finite number, map with strings as keys, {@code Iterable}
   *     or array of objects
   * @return the text; encoded as UTF-8 it is what was given, whatever that was
   * @throws JsonException when there is something else in it, or it is too deep
   */
  public static String write(Object value) {
    JsonWriter writer = new JsonWriter();
    writer.write(value, "", 0);
    return writer.text();
  }
}
