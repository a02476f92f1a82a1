package dev.postrider;

/** A record to publish in DNS. */
public final class DnsRecord extends ApiObject {
  private final String name;
  private final String type;
  private final String value;
  private final boolean isRequired;
  private final String purpose;

  DnsRecord(Fields fields) {
    super(fields);
    this.name = fields.text("name");
    this.type = fields.text("type");
    this.value = fields.text("value");
    this.isRequired = fields.isTrue("required");
    this.purpose = fields.text("purpose");
  }

  /**
   * Where it stands.
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
   * What it says.
   *
   * @return the content
   */
  public String value() {
    return value;
  }

  /**
   * Whether sending needs it.
   *
   * @return true for DKIM; the others are recommended
   */
  public boolean isRequired() {
    return isRequired;
  }

  /**
   * What it is for, and what to mind.
   *
   * @return a sentence for people
   */
  public String purpose() {
    return purpose;
  }
}
