package dev.postrider;

import java.util.Optional;

/** A visit to a tracked link. */
public final class Click extends ApiObject {
  private final String url;
  private final int linkIndex;
  private final boolean isFirst;
  private final String ip;
  private final String userAgent;
  private final boolean isMachine;

  Click(Fields fields) {
    super(fields);
    this.url = fields.text("url");
    this.linkIndex = fields.smallNumber("link_index").orElse(0);
    this.isFirst = fields.isTrue("first");
    this.ip = fields.text("ip");
    this.userAgent = fields.text("user_agent");
    this.isMachine = fields.isTrue("machine");
  }

  /**
   * The link.
   *
   * @return as you wrote it
   */
  public String url() {
    return url;
  }

  /**
   * Which of the tracked links of the HTML it was.
   *
   * @return from 0
   */
  public int linkIndex() {
    return linkIndex;
  }

  /**
   * Whether this link was followed for the first time.
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
}
