package dev.postrider;

import java.util.Optional;

/** A fetch of the tracking pixel. */
public final class Open extends ApiObject {
  private final boolean isFirst;
  private final String ip;
  private final String userAgent;
  private final boolean isMachine;
  private final String machineReason;

  Open(Fields fields) {
    super(fields);
    this.isFirst = fields.isTrue("first");
    this.ip = fields.text("ip");
    this.userAgent = fields.text("user_agent");
    this.isMachine = fields.isTrue("machine");
    this.machineReason = fields.text("machine_reason");
  }

  /**
   * Whether this was the first time.
   *
   * @return false after anybody else, a machine, too
   */
  public boolean isFirst() {
    return isFirst;
  }

  /**
   * From where.
   *
   * @return an IP address
   */
  public Optional<String> ip() {
    return Optional.ofNullable(ip);
  }

  /**
   * With what program.
   *
   * @return as it named itself
   */
  public Optional<String> userAgent() {
    return Optional.ofNullable(userAgent);
  }

  /**
   * Whether it was most likely no person.
   *
   * @return true for scanners and the like
   */
  public boolean isMachine() {
    return isMachine;
  }

  /**
   * Why it is taken for a machine.
   *
   * @return empty when it is not
   */
  public Optional<String> machineReason() {
    return Optional.ofNullable(machineReason);
  }
}
