package dev.postrider.internal;

import static dev.postrider.Check.equal;
import static dev.postrider.Check.thrown;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The JSON of the library, whose reader meets whatever a server or a stranger sends. */
public final class JsonTest {
  public void testReadsValues() {
    Object value = Json.parse(" {\"a\" : [ 1 , true,false, null ,\"x\" ] , \"\":{} }\r\n\t");
    equal(value.toString(), "{a=[1, true, false, null, x], ={}}");
    equal(Json.parse("[]"), List.of());
    equal(Json.parse("\"\""), "");
    equal(Json.parse("null"), null);
  }

  public void testKeepsTheOrderOfNames() {
    equal(Json.write(Json.parse("{\"z\":1,\"a\":2,\"m\":3}")), "{\"z\":1,\"a\":2,\"m\":3}");
  }

  public void testWhatWasReadCannotBeChanged() {
    List<?> list = (List<?>) Json.parse("[[1]]");
    thrown(UnsupportedOperationException.class, list::clear);
    thrown(UnsupportedOperationException.class, ((Map<?, ?>) Json.parse("{\"a\":1}"))::clear);
  }

  public void testReadsNumbers() {
    equal(Json.parse("0"), 0L);
    equal(Json.parse("-0"), 0L);
    equal(Json.parse("9223372036854775807"), Long.MAX_VALUE);
    equal(Json.parse("-9223372036854775808"), Long.MIN_VALUE);
    equal(Json.parse("9223372036854775808"), new BigDecimal("9223372036854775808"));
    equal(Json.parse("123456789012345678901234567890"), new BigDecimal("123456789012345678901234567890"));
    equal(Json.parse("1.50"), new BigDecimal("1.50"));
    equal(Json.parse("-1.5e+3"), new BigDecimal("-1.5e+3"));
    equal(Json.parse("1E-400"), new BigDecimal("1E-400"));
  }

  public void testRefusesWhatIsNoNumber() {
    List<String> broken =
        List.of("01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity",
            "1_000", "١", "--1", "1e99999999999");
    for (String text : broken) {
      refused(text);
    }
    refused("1".repeat(1001));
  }

  public void testReadsEscapesAndSurrogates() {
    equal(Json.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9\""), "\"\\/\b\f\n\r\téé");
    equal(Json.parse("\"\\ud83d\\ude00 😀\""), "😀 😀");
    equal(Json.parse("\"\\u0000\""), "\0");
    equal(Json.parse("\"\\ud83d\""), "\ud83d");
    equal(Json.parse("\"\\ude00\\ud83d\""), "\ude00\ud83d");
  }

  public void testRefusesBrokenStrings() {
    List<String> broken =
        List.of("\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
            "\"\\u١٢٣٤\"", "\"a\nb\"", "\"\0\"", "'a'");
    for (String text : broken) {
      refused(text);
    }
  }

  public void testRefusesWhatIsNoJson() {
    List<String> broken =
        List.of("", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
            "{a:1}", "{1:1}", "tru", "nul", "True", "[1 2]", "1 2", "[]]",
            "/**/1", "[1]\0", "\ufeff1", "{\"a\":1 \"b\":2}", "\u00a01");
    for (String text : broken) {
      refused(text);
    }
  }

  public void testRefusesANameThatComesTwice() {
    refused("{\"a\":1,\"b\":2,\"a\":3}");
    refused("{\"a\":1,\"\\u0061\":3}");
    equal(Json.parse("[{\"a\":1},{\"a\":{\"a\":2}}]").toString(), "[{a=1}, {a={a=2}}]");
  }

  public void testSaysWhereItIsWrong() {
    JsonException e = thrown(JsonException.class, () -> Json.parse("{\"a\": tru}"));
    equal(e.getMessage(), "no JSON at character 6: a value was expected");
  }

  public void testLimitsTheDepth() {
    String deepest = "[".repeat(Json.MAX_DEPTH) + "]".repeat(Json.MAX_DEPTH);
    equal(Json.write(Json.parse(deepest)), deepest);
    refused("[" + deepest + "]");
    refused("[".repeat(5_000_000));
    refused("{\"a\":".repeat(1_000_000));
    // Beside one another they are not deep.
    equal(((List<?>) Json.parse("[" + "[],".repeat(2000) + "[]]")).size(), 2001);
  }

  public void testReadsUtf8Only() {
    equal(Json.parse("\"Grüße 🎉\"".getBytes(StandardCharsets.UTF_8)), "Grüße 🎉");
    for (int[] octets : new int[][] {{0xff}, {0xc3}, {0xc0, 0xaf}, {0xed, 0xa0, 0x80}, {0xf5, 0x80, 0x80, 0x80}}) {
      byte[] text = new byte[octets.length + 2];
      text[0] = '"';
      text[text.length - 1] = '"';
      for (int i = 0; i < octets.length; i++) {
        text[i + 1] = (byte) octets[i];
      }
      thrown(JsonException.class, () -> Json.parse(text));
    }
  }

  public void testWritesValues() {
    Map<String, Object> value = new HashMap<>();
    value.put("a", Arrays.asList(1, 2L, (short) 3, (byte) 4, 1.5, 2.5f, 1e10, null, true));
    equal(Json.write(value), "{\"a\":[1,2,3,4,1.5,2.5,1.0E10,null,true]}");
    Object[] numbers = {new BigDecimal("1E+3"), BigInteger.TEN.pow(30), new AtomicLong(7)};
    equal(Json.write(numbers), "[1E+3,1" + "0".repeat(30) + ",7]");
    equal(Json.write(new StringBuilder("x")), "\"x\"");
  }

  public void testWritesStrings() {
    equal(Json.write("\"\\/\b\u0001\u007fé😀</script>"), "\"\\\"\\\\/\\u0008\\u0001\u007fé😀</script>\"");
    equal(Json.write("a\ud83db"), "\"a\\ud83db\"");
    equal(Json.write("\ude00\ud83d"), "\"\\ude00\\ud83d\"");
    equal(Json.write("\ud83d"), "\"\\ud83d\"");
    equal(Json.parse(Json.write("\ud83d\ude00\ude00")), "\ud83d\ude00\ude00");
  }

  public void testRefusesToWriteWhatJsonDoesNotHave() {
    equal(unwritable(Map.of("a", List.of(new Date(0)))), "a[0]: a java.util.Date cannot be written as JSON");
    unwritable(Double.NaN);
    unwritable(Float.POSITIVE_INFINITY);
    unwritable(Map.of(1, 2));
    unwritable(new int[] {1});
  }

  public void testRefusesToWriteAValueInItself() {
    List<Object> endless = new ArrayList<>();
    endless.add(endless);
    unwritable(endless);
    Map<String, Object> unnamed = new HashMap<>();
    unnamed.put("", unnamed);
    unwritable(unnamed);
  }

  private static void refused(String text) {
    thrown(JsonException.class, () -> Json.parse(text));
  }

  private static String unwritable(Object value) {
    return thrown(JsonException.class, () -> Json.write(value)).getMessage();
  }
}
