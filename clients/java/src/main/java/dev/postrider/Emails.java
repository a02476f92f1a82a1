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
   * Hands up to 100 messages over with one call; they are accepted in one transaction. It may be
   * repeated at will: see {@link SendBatchRequest.Builder#idempotencyKey(String)}.
   *
   * @param request the messages
   * @return what was accepted
   * @throws PostriderException when nothing was; {@link PostriderException#index()} says which
   *     message is at fault
   */
  public SendBatchResult sendBatch(SendBatchRequest request) {
    return new SendBatchResult(caller.call(Call.send(request)));
  }

  /**
   * Searches the messages. Go on with {@link EmailPage#next()} until there are no more: a page can
   * be short or empty although more follow.
   *
   * @param request what to search for
   * @return a page of messages, one per recipient, newest first
   * @throws PostriderException when the call failed
   */
  public EmailPage list(ListEmailsRequest request) {
    return new EmailPage(caller.call(Call.of("GET", "/emails" + request.query())));
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
