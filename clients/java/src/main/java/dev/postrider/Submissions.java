package dev.postrider;

/** Shows calls of {@link Emails#send(SendRequest)}; see {@link Postrider#submissions()}. */
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
}
