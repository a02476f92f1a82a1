package dev.postrider;

/** How the service is. */
public final class Health extends ApiObject {
  private final HealthStatus status;

  Health(Fields fields) {
    super(fields);
    this.status = fields.constant("status", HealthStatus.class, HealthStatus.UNKNOWN);
  }

  /**
   * Whether it can do its work.
   *
   * @return the status
   */
  public HealthStatus status() {
    return status;
  }
}
