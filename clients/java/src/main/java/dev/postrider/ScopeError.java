package dev.postrider;

/** A 403 {@code scope_required}: the key lacks the scope that the message names. */
public final class ScopeError extends PostriderException {
  private static final long serialVersionUID = 1L;

  ScopeError(Failure failure) {
    super(failure);
  }
}
