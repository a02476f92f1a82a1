package dev.postrider;

import java.util.List;
import java.util.Optional;

/** What was found in DNS for one record. */
public final class DomainCheck extends ApiObject {
  private final String record;
  private final String name;
  private final String type;
  private final boolean isRequired;
  private final boolean isOk;
  private final String expected;
  private final List<String> found;
  private final CheckReason reason;
  private final String message;

  DomainCheck(Fields fields) {
    super(fields);
    this.record = fields.text("record");
    this.name = fields.text("name");
    this.type = fields.text("type");
    this.isRequired = fields.isTrue("required");
    this.isOk = fields.isTrue("ok");
    this.expected = fields.text("expected");
    this.found = fields.texts("found");
    this.reason = fields.constantOrNull("reason", CheckReason.class, CheckReason.UNKNOWN);
    this.message = fields.text("message");
  }

  /**
   * Which record.
   *
   * @return {@code dkim}, {@code spf} or {@code dmarc}
   */
  public String record() {
    return record;
  }

  /**
   * Where it should stand.
   *
   * @return a DNS name
   */
  public String name() {
    return name;
  }

  /**
   * Its type.
   *
   * @return {@code TXT}
   */
  public String type() {
    return type;
  }

  /**
   * Whether sending needs it.
   *
   * @return true for DKIM
   */
  public boolean isRequired() {
    return isRequired;
  }

  /**
   * Whether all is well.
   *
   * @return false when there is a reason
   */
  public boolean isOk() {
    return isOk;
  }

  /**
   * The record to publish.
   *
   * @return the content
   */
  public String expected() {
    return expected;
  }

  /**
   * The TXT records that stand there.
   *
   * @return their contents
   */
  public List<String> found() {
    return found;
  }

  /**
   * What is wrong.
   *
   * @return empty when all is well
   */
  public Optional<CheckReason> reason() {
    return Optional.ofNullable(reason);
  }

  /**
   * What is right, or what to change.
   *
   * @return a sentence for people
   */
  public String message() {
    return message;
  }
}
