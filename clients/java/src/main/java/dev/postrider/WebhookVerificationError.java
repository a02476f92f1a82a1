package dev.postrider;

/** A request is not from the service, is too old, or cannot be checked: answer it with a 400. */
public final class WebhookVerificationError extends PostriderException {
  private static final long serialVersionUID = 1L;

  WebhookVerificationError(Failure failure) {
    super(failure);
  }
}
