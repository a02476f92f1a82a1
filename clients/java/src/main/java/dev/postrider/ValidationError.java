package dev.postrider;

import java.util.Optional;

/** Any other 4xx: repeating the call unchanged does not help. */
public final class ValidationError extends PostriderException {
  private static final long serialVersionUID = 1L;

  /** Null for most codes. */
  private final String domain;

  /** Null for most codes; not a part of what is serialized. */
  private final transient DomainCheck check;

  ValidationError(Failure failure, String domain, DomainCheck check) {
    super(failure);
    this.domain = domain;
    this.check = check;
  }

  /**
   * The domain that could not be verified.
   *
   * @return empty for all codes but {@code verification_failed}
   */
  public Optional<String> domain() {
    return Optional.ofNullable(domain);
  }

  /**
   * The DNS record that was not as expected.
   *
   * @return empty for all codes but {@code verification_failed}
   */
  public Optional<DomainCheck> check() {
    return Optional.ofNullable(check);
  }
}
