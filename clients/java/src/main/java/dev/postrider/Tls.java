package dev.postrider;

/** How a connection was encrypted. */
public final class Tls extends ApiObject {
  private final String version;
  private final String cipher;
  private final boolean isVerified;
  private final String policy;

  Tls(Fields fields) {
    super(fields);
    this.version = fields.text("version");
    this.cipher = fields.text("cipher");
    this.isVerified = fields.isTrue("verified");
    this.policy = fields.text("policy");
  }

  /**
   * The protocol.
   *
   * @return such as {@code TLSv1.3}
   */
  public String version() {
    return version;
  }

  /**
   * The cipher suite.
   *
   * @return its name
   */
  public String cipher() {
    return cipher;
  }

  /**
   * Whether the certificate is valid for the server.
   *
   * @return false for one that nobody vouches for
   */
  public boolean isVerified() {
    return isVerified;
  }

  /**
   * What the recipient's domain demands.
   *
   * @return {@code none}, {@code testing} or {@code enforce}
   */
  public String policy() {
    return policy;
  }
}
