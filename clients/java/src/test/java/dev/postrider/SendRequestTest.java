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
