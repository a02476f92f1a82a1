package dev.postrider;

import java.time.Instant;
import java.util.Collections;

/**
 * Shows, moves and cancels calls of {@link Emails#send(SendRequest)}; see {@link
 * Postrider#submissions()}.
 */
public final class Submissions {
  private final Caller caller;

  Submissions(Caller caller) {
    this.caller = caller;
  }

  /**
   * Shows one call with all its messages.
   *
   * @param id that of {@link SendResult#id()}
   * @return the call and what became of its messages
   * @throws PostriderException when there is none
   */
  public Submission get(String id) {
    return new Submission(caller.call(Call.of("GET", Call.path("/submissions", id))));
  }

  /**
   * Sends the messages that are still scheduled at another time.
   *
   * @param id that of {@link SendResult#id()}
   * @param sendAt at most 30 days ahead; a time up to five minutes ago sends at once
   * @return the new time
   * @throws PostriderException when none is scheduled any more, with the code {@code not_scheduled}
   */
  public MovedSubmission move(String id, Instant sendAt) {
    return move(id, Call.time(sendAt));
  }

  /**
   * Sends the messages that are still scheduled at another time, for those who have it as text.
   *
   * @param id that of {@link SendResult#id()}
   * @param sendAt RFC 3339 with an offset; it is sent as it is
   * @return the new time
   * @throws PostriderException when none is scheduled any more, with the code {@code not_scheduled}
   */
  public MovedSubmission move(String id, String sendAt) {
    String path = Call.path("/submissions", id);
    return new MovedSubmission(
        caller.call(Call.of("PATCH", path, Collections.singletonMap("send_at", sendAt))));
  }

  /**
   * Ends every message, scheduled or not, that has neither ended nor is being sent.
   *
   * @param id that of {@link SendResult#id()}
   * @return which messages are canceled
   * @throws PostriderException when there is no such submission
   */
  public CanceledSubmission cancel(String id) {
    return new CanceledSubmission(
        caller.call(Call.of("POST", Call.path("/submissions", id) + "/cancel")));
  }
}
