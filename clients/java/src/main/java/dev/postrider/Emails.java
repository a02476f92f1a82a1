package dev.postrider;

/** Sends messages and shows what became of them; see {@link Postrider#emails()}. */
public final class Emails {
  private final Caller caller;

  Emails(Caller caller) {
    this.caller = caller;
  }

  /**
   * Hands a message over. When this returns, the message is stored safely by the service. It may be
   * repeated at will: see {@link SendRequest.Builder#idempotencyKey(String)}.
   *
   * @param request what to send to whom
   * @return what was taken
   * @throws PostriderException when nothing was
   */
  public SendResult send(SendRequest request) {
    return new SendResult(caller.call(Call.send(request)));
  }

  /**
   * Shows one message.
   *
   * @param id one out of {@link SendResult#messageIds()}
   * @return the message and what happened to it
   * @throws PostriderException when there is none
   */
  public Email get(String id) {
    return new Email(caller.call(Call.of("GET", Call.path("/emails", id))));
  }
}
