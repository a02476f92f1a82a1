package dev.postrider;

/** A 5xx after all retries. */
public final class ServerError extends PostriderException {
  private static final long serialVersionUID = 1L;

  ServerError(Failure failure) {
    super(failure);
  }
}
