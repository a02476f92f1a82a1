package dev.postrider;

import static dev.postrider.Check.equal;

import java.util.HashMap;
import java.util.Map;

/** How a mail was handed in, and the Message-ID of one that came by SMTP. */
public final class WrittenMailTest {
  private static final Map<String, Object> WRITTEN =
      Map.of("source", "smtp", "header_message_id", "order-4711@app.example");

  public void testItSaysHowItCame() {
    Email email = new Email(new Fields(WRITTEN));
    equal(email.source().orElse(null), "smtp");
    equal(email.headerMessageId().orElse(null), "order-4711@app.example");
    Submission submission = new Submission(new Fields(WRITTEN));
    equal(submission.source().orElse(null), "smtp");
    equal(submission.headerMessageId().orElse(null), "order-4711@app.example");
    equal(new ListedEmail(new Fields(WRITTEN)).headerMessageId().orElse(null), "order-4711@app.example");
    equal(new EventData(new Fields(WRITTEN)).headerMessageId().orElse(null), "order-4711@app.example");
  }

  public void testOthersSayNothing() {
    Fields fields = new Fields(new HashMap<>());
    equal(new Email(fields).source().isPresent(), false);
    equal(new Email(fields).headerMessageId().isPresent(), false);
    equal(new Submission(fields).source().isPresent(), false);
    equal(new Submission(fields).headerMessageId().isPresent(), false);
    equal(new ListedEmail(fields).headerMessageId().isPresent(), false);
    equal(new EventData(fields).headerMessageId().isPresent(), false);
  }
}
