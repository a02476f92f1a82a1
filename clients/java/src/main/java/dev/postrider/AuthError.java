package dev.postrider;

/** A 401: the API key is missing, unknown or revoked. */
public final class AuthError extends PostriderException {
  private static final long serialVersionUID = 1L;

  AuthError(Failure failure) {
    super(failure);
  }
}
