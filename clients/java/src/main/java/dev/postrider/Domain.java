package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A domain that you have registered. */
public final class Domain extends ApiObject {
  private final String id;
  private final String domain;
  private final DomainState state;
  private final String dkimSelector;
  private final String dkimPublicKeyB64;
  private final Instant createdAt;
  private final CheckReason failureReason;
  private final Instant verifiedAt;
  private final Instant lastCheckedAt;
  private final List<DnsRecord> records;
  private final List<DomainCheck> checks;

  Domain(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.domain = fields.text("domain");
    this.state = fields.constant("state", DomainState.class, DomainState.UNKNOWN);
    this.dkimSelector = fields.text("dkim_selector");
    this.dkimPublicKeyB64 = fields.text("dkim_public_key_b64");
    this.createdAt = fields.time("created_at");
    this.failureReason =
        fields.constantOrNull("failure_reason", CheckReason.class, CheckReason.UNKNOWN);
    this.verifiedAt = fields.time("verified_at");
    this.lastCheckedAt = fields.time("last_checked_at");
    this.records = fields.objects("records", DnsRecord::new);
    this.checks = fields.objects("checks", DomainCheck::new);
  }

  /**
   * The id.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * The name.
   *
   * @return in lower case, without a trailing dot
   */
  public String domain() {
    return domain;
  }

  /**
   * Whether it can be sent from.
   *
   * @return the state
   */
  public DomainState state() {
    return state;
  }

  /**
   * The name of the key below {@code _domainkey}.
   *
   * @return one or more labels
   */
  public String dkimSelector() {
    return dkimSelector;
  }

  /**
   * The key that receivers verify signatures with.
   *
   * @return base64
   */
  public String dkimPublicKeyB64() {
    return dkimPublicKeyB64;
  }

  /**
   * When it was created.
   *
   * @return a time with milliseconds
   */
  public Instant createdAt() {
    return createdAt;
  }

  /**
   * Why the last check failed.
   *
   * @return empty when it did not
   */
  public Optional<CheckReason> failureReason() {
    return Optional.ofNullable(failureReason);
  }

  /**
   * Since when it is verified, or was for the last time.
   *
   * @return empty when it never was
   */
  public Optional<Instant> verifiedAt() {
    return Optional.ofNullable(verifiedAt);
  }

  /**
   * When its records were last looked at.
   *
   * @return empty when they never were
   */
  public Optional<Instant> lastCheckedAt() {
    return Optional.ofNullable(lastCheckedAt);
  }

  /**
   * What to publish in DNS.
   *
   * @return DKIM, SPF and DMARC
   */
  public List<DnsRecord> records() {
    return records;
  }

  /**
   * What was just found in DNS.
   *
   * @return empty but in the answer of {@link Domains#verify}
   */
  public List<DomainCheck> checks() {
    return checks;
  }
}
