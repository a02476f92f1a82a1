package dev.postrider;

/** A 403 {@code tenant_not_active}: the account is suspended, in review or not yet confirmed. */
public final class TenantNotActiveError extends PostriderException {
  private static final long serialVersionUID = 1L;

  TenantNotActiveError(Failure failure) {
    super(failure);
  }
}
