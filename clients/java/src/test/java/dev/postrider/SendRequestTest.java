package dev.postrider;

import static dev.postrider.Check.equal;
import static dev.postrider.Check.thrown;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Map;

/** A message stays as it was built, and says clearly what cannot be sent. */
public final class SendRequestTest {
  public void testLaterChangesDoNotReachIt() {
    Map<String, Object> data = new HashMap<>(Map.of("name", "Jo"));
    Map<String, String> headers = new HashMap<>(Map.of("X-Order", "17"));
    SendRequest.Builder builder = SendRequest.builder().from("a@b.example").to("c@d.example");
    builder.data(data).headers(headers);
    SendRequest request = builder.build();
    data.put("name", "Ann");
    headers.put("X-Order", "18");
    builder.to("e@f.example").subject("Later");
    String expected =
        "{\"from\":\"a@b.example\",\"data\":{\"name\":\"Jo\"},\"to\":[\"c@d.example\"],"
            + "\"headers\":{\"X-Order\":\"17\"}}";
    equal(new String(request.body(), StandardCharsets.UTF_8), expected);
  }

  public void testWithoutNewFieldsItIsTheSameAsBefore() {
    SendRequest.Builder builder = SendRequest.builder().to("b").header("X", "y").subject("S").from("a");
    String expected =
        "{\"subject\":\"S\",\"from\":\"a\",\"text\":\"T\",\"to\":[\"b\",\"c\"],\"headers\":{\"X\":\"y\",\"Z\":\"z\"}}";
    equal(written(builder.text("T").header("Z", "z").to("c")), expected);
    equal(written(SendRequest.builder()), "{\"to\":[]}");
    equal(written(SendRequest.builder().headers(Map.of())), "{\"to\":[],\"headers\":{}}");
  }

  public void testAttachmentsAsBytesAndAsBase64() {
    byte[] bytes = {0, (byte) 255, (byte) 254};
    Attachment first = Attachment.builder().filename("a.bin").content(bytes).build();
    Attachment second =
        Attachment.builder().filename("b").contentBase64("AP-_").contentType("text/csv").contentId("b").build();
    bytes[0] = 1;
    String expected =
        "{\"to\":[],\"attachments\":[{\"filename\":\"a.bin\",\"content\":\"AP/+\"},{\"filename\":\"b\","
            + "\"content\":\"AP-_\",\"content_type\":\"text/csv\",\"content_id\":\"b\"}]}";
    equal(written(SendRequest.builder().attachments(first, second)), expected);
    equal(written(SendRequest.builder().attachments(first).attachments(second)), expected);
    equal(second.toString(), "Attachment(b)");
  }

  public void testLaterChangesOfLabelsDoNotReachIt() {
    Map<String, String> tags = new HashMap<>(Map.of("kind", "order"));
    SendRequest.Builder builder = SendRequest.builder().tags(tags).cc("b").trackOpens(true).trackOpens(false);
    tags.put("kind", "other");
    String expected = "{\"to\":[],\"cc\":[\"b\"],\"tags\":{\"kind\":\"order\"},\"tracking\":{\"opens\":false}}";
    equal(written(builder), expected);
  }

  private static String written(SendRequest.Builder builder) {
    return new String(builder.build().body(), StandardCharsets.UTF_8);
  }

  public void testEachHasAKeyOfItsOwn() {
    SendRequest.Builder builder = SendRequest.builder();
    equal(builder.build().idempotencyKey().equals(builder.build().idempotencyKey()), false);
    equal(builder.idempotencyKey("mine").build().idempotencyKey(), "mine");
  }

  public void testAnEmptyKeyIsRefused() {
    PostriderException e =
        thrown(PostriderException.class, () -> SendRequest.builder().idempotencyKey("").build());
    equal(e.code(), "invalid_argument");
  }

  public void testSaysWhichDataCannotBeSent() {
    Map<String, ?> data = Map.of("order", Map.of("day", LocalDate.EPOCH));
    PostriderException e = thrown(PostriderException.class, () -> SendRequest.builder().data(data).build());
    equal(e.code(), "invalid_argument");
    equal(e.getMessage(), "data.order.day: a java.time.LocalDate cannot be written as JSON");
  }

  public void testIsPrintedWithoutItsContents() {
    SendRequest.Builder builder = SendRequest.builder().from("a@b.example").to("c@d.example");
    SendRequest request = builder.subject("Hi").text("secret").build();
    equal(request.toString(), "SendRequest(a@b.example to [c@d.example]: Hi)");
  }
}
