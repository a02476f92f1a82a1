package dev.postrider;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Manages the domains that you send from; see {@link Postrider#domains()}. */
public final class Domains {
  private static final String PATH = "/domains";

  private final Caller caller;

  Domains(Caller caller) {
    this.caller = caller;
  }

  /**
   * Registers a domain with a DKIM selector that the service chooses.
   *
   * @param domain in lower case, without a trailing dot
   * @return the domain, whose records wait to be published
   * @throws PostriderException when it was refused
   */
  public Domain create(String domain) {
    return create(domain, null);
  }

  /**
   * Registers a domain.
   *
   * @param domain in lower case, without a trailing dot
   * @param selector of its DKIM key; null to have the service choose
   * @return the domain, whose records wait to be published
   * @throws PostriderException when it was refused
   */
  public Domain create(String domain, String selector) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("domain", domain);
    if (selector != null) {
      body.put("selector", selector);
    }
    return new Domain(caller.call(Call.of("POST", PATH, body)));
  }

  /**
   * Shows all domains.
   *
   * @return oldest first, revoked ones included
   * @throws PostriderException when the call failed
   */
  public List<Domain> list() {
    return caller.call(Call.of("GET", PATH)).objects("domains", Domain::new);
  }

  /**
   * Shows one domain.
   *
   * @param id of the domain
   * @return the domain
   * @throws PostriderException when there is none
   */
  public Domain get(String id) {
    return new Domain(caller.call(Call.of("GET", Call.path(PATH, id))));
  }

  /**
   * Looks for the domain's records in DNS.
   *
   * @param id of the domain
   * @return the domain, which is verified now, with what was found
   * @throws ValidationError with the code {@code verification_failed} and its {@link
   *     ValidationError#check()} when the DKIM record is not as expected
   * @throws PostriderException when the call failed otherwise
   */
  public Domain verify(String id) {
    return new Domain(caller.call(Call.of("POST", Call.path(PATH, id) + "/verify")));
  }

  /**
   * Revokes a domain: nothing can be sent from it any more. What was accepted before is still
   * delivered.
   *
   * @param id of the domain
   * @return the domain, which is revoked now
   * @throws PostriderException when there is none
   */
  public Domain delete(String id) {
    return new Domain(caller.call(Call.of("DELETE", Call.path(PATH, id))));
  }
}
