package dev.postrider;

/**
 * No answer came, after all retries: the name was not found, the connection failed or broke, time
 * ran out, or the thread was interrupted (its flag is set again then).
 */
public final class NetworkError extends PostriderException {
  private static final long serialVersionUID = 1L;

  /** Whether time ran out. */
  private final boolean timeout;

  NetworkError(Failure failure, boolean timeout) {
    super(failure);
    this.timeout = timeout;
  }

  /**
   * Whether time ran out.
   *
   * @return false for all other failures
   */
  public boolean isTimeout() {
    return timeout;
  }
}
