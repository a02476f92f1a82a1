package dev.postrider.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON text from its beginning to its end. */
final class JsonReader {
  /** Reading longer ones takes time that grows with the square of their length. */
  private static final int MAX_NUMBER_LENGTH = 1000;

  /** Of Long.MIN_VALUE. */
  private static final int MAX_LONG_LENGTH = 20;

  private final String text;
  private int at;
  private int depth;

  JsonReader(String text) {
    this.text = text;
  }

  Object readWhole() {
    Object value = readValue();
    skipSpace();
    if (at < text.length()) {
      throw wrong("nothing more was expected");
    }
    return value;
  }

  private Object readValue() {
    skipSpace();
    switch (peek()) {
      case '{':
        return readObject();
      case '[':
        return readArray();
      case '"':
        return readString();
      case 't':
        return readWord("true", Boolean.TRUE);
      case 'f':
        return readWord("false", Boolean.FALSE);
      case 'n':
        return readWord("null", null);
      default:
        return readNumber();
    }
  }

  private Map<String, Object> readObject() {
    goDown();
    Map<String, Object> object = new LinkedHashMap<>();
    if (!endsAtOnce('}')) {
      do {
        skipSpace();
        if (peek() != '"') {
          throw wrong("a name was expected");
        }
        int nameAt = at;
        String name = readString();
        skipSpace();
        expect(':');
        Object value = readValue();
        if (object.containsKey(name)) {
          at = nameAt;
          throw wrong("this name stands here for the second time");
        }
        object.put(name, value);
      } while (goesOn('}'));
    }
    depth--;
    return Collections.unmodifiableMap(object);
  }

  private List<Object> readArray() {
    goDown();
    List<Object> array = new ArrayList<>();
    if (!endsAtOnce(']')) {
      do {
        array.add(readValue());
      } while (goesOn(']'));
    }
    depth--;
    return Collections.unmodifiableList(array);
  }

  private void goDown() {
    at++;
    if (++depth > Json.MAX_DEPTH) {
      throw wrong("the nesting is too deep");
    }
  }

  private boolean endsAtOnce(char end) {
    skipSpace();
    if (peek() != end) {
      return false;
    }
    at++;
    return true;
  }

  private boolean goesOn(char end) {
    skipSpace();
    if (peek() == ',') {
      at++;
      return true;
    }
    expect(end);
    return false;
  }

  private String readString() {
    at++;
    StringBuilder value = null;
    int copied = at;
    while (true) {
      char c = peek();
      if (c < ' ') {
        throw wrong(at < text.length() ? "a control character in a string" : "the text ends in a string");
      }
      if (c == '"') {
        String rest = text.substring(copied, at++);
        return value == null ? rest : value.append(rest).toString();
      }
      at++;
      if (c == '\\') {
        value = value == null ? new StringBuilder() : value;
        value.append(text, copied, at - 1).append(readEscape());
        copied = at;
      }
    }
  }

  private char readEscape() {
    char c = peek();
    at++;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        return c;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        return readCodeUnit();
      default:
        at--;
        throw wrong("no such escape");
    }
  }

  private char readCodeUnit() {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      int digit = hexDigit(peek());
      if (digit < 0) {
        throw wrong("four hexadecimal digits were expected");
      }
      unit = unit * 16 + digit;
      at++;
    }
    return (char) unit;
  }

  /** Not by Character.digit, for which the digits of all scripts are digits. */
  private static int hexDigit(char c) {
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }

  private Object readNumber() {
    int start = at;
    skip('-');
    if (!skip('0')) {
      skipDigits();
    }
    boolean whole = true;
    if (skip('.')) {
      whole = false;
      skipDigits();
    }
    if (skip('e') || skip('E')) {
      whole = false;
      if (!skip('+')) {
        skip('-');
      }
      skipDigits();
    }
    return toNumber(start, whole);
  }

  private Object toNumber(int start, boolean whole) {
    String number = text.substring(start, at);
    if (whole && number.length() <= MAX_LONG_LENGTH) {
      BigInteger exact = new BigInteger(number);
      return exact.bitLength() < Long.SIZE ? (Object) exact.longValue() : new BigDecimal(exact);
    }
    if (number.length() > MAX_NUMBER_LENGTH) {
      at = start;
      throw wrong("the number is too long");
    }
    try {
      return new BigDecimal(number);
    } catch (NumberFormatException e) {
      at = start;
      throw wrong("the exponent is too large");
    }
  }

  private void skipDigits() {
    int start = at;
    while (peek() >= '0' && peek() <= '9') {
      at++;
    }
    if (at == start) {
      throw wrong(at < text.length() ? "a value was expected" : "the text ends too early");
    }
  }

  private boolean skip(char wanted) {
    if (peek() != wanted) {
      return false;
    }
    at++;
    return true;
  }

  private Object readWord(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw wrong("a value was expected");
    }
    at += word.length();
    return value;
  }

  private void expect(char wanted) {
    if (peek() != wanted) {
      throw wrong(at < text.length() ? wanted + " was expected" : "the text ends too early");
    }
    at++;
  }

  private void skipSpace() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') {
      at++;
    }
  }

  /** Behind the end there is a NUL, which JSON has nowhere. */
  private char peek() {
    return at < text.length() ? text.charAt(at) : 0;
  }

  private JsonException wrong(String what) {
    return new JsonException("no JSON at character " + at + ": " + what);
  }
}
