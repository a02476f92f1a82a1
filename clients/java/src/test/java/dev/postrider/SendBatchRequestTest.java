package dev.postrider;

import static dev.postrider.Check.equal;
import static dev.postrider.Check.thrown;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;

/** A batch stays as it was built, and its messages have no keys. */
public final class SendBatchRequestTest {
  public void testLaterChangesDoNotReachIt() {
    SendBatchRequest.Builder builder = SendBatchRequest.builder().emails(message("Ω \"1\"")).onError(OnError.SKIP);
    SendBatchRequest batch = builder.build();
    builder.emails(message("2")).onError("a\"b");
    String first = "{\"subject\":\"Ω \\\"1\\\"\",\"to\":[]}";
    equal(written(batch), "{\"emails\":[" + first + "],\"on_error\":\"skip\"}");
    String second = "{\"subject\":\"2\",\"to\":[]}";
    equal(written(builder.build()), "{\"emails\":[" + first + "," + second + "],\"on_error\":\"a\\\"b\"}");
    equal(batch.toString(), "SendBatchRequest(1 emails)");
    equal(written(SendBatchRequest.builder().onError((OnError) null).build()), "{\"emails\":[]}");
  }

  public void testAMessageWithAKeyIsRefused() {
    SendRequest message = SendRequest.builder().idempotencyKey("mine").build();
    SendBatchRequest.Builder builder = SendBatchRequest.builder();
    PostriderException e = thrown(PostriderException.class, () -> builder.emails(List.of(message)));
    equal(e.code(), "invalid_argument");
    equal(e.index().isPresent(), false);
  }

  public void testEachHasAKeyOfItsOwn() {
    SendBatchRequest.Builder builder = SendBatchRequest.builder();
    equal(builder.build().idempotencyKey().equals(builder.build().idempotencyKey()), false);
    equal(builder.idempotencyKey("mine").build().idempotencyKey(), "mine");
    PostriderException e = thrown(PostriderException.class, () -> builder.idempotencyKey(" ").build());
    equal(e.code(), "invalid_argument");
  }

  public void testTimesAreWrittenInUtcWithMilliseconds() {
    equal(Call.time(Instant.parse("2026-12-24T17:00:00Z")), "2026-12-24T17:00:00.000Z");
    equal(Call.time(Instant.parse("2026-12-24T17:00:00.123999Z")), "2026-12-24T17:00:00.123Z");
    equal(Call.time(null), null);
    PostriderException e = thrown(PostriderException.class, () -> Call.time(Instant.MAX));
    equal(e.code(), "invalid_argument");
  }

  private static SendRequest message(String subject) {
    return SendRequest.builder().subject(subject).build();
  }

  private static String written(SendBatchRequest batch) {
    return new String(batch.body(), StandardCharsets.UTF_8);
  }
}
