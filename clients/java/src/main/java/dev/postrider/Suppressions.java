package dev.postrider;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Manages the addresses that get no mail from you; see {@link Postrider#suppressions()}. */
public final class Suppressions {
  private static final String PATH = "/suppressions";

  private final Caller caller;

  Suppressions(Caller caller) {
    this.caller = caller;
  }

  /**
   * Reads a page of the list. Go on with {@link SuppressionPage#next()} until there are no more: a
   * page can be short or empty although more follow.
   *
   * @param request which page
   * @return the page, in alphabetical order
   * @throws PostriderException when the call failed
   */
  public SuppressionPage list(ListSuppressionsRequest request) {
    return new SuppressionPage(caller.call(Call.of("GET", PATH + request.query())));
  }

  /**
   * Suppresses an address by hand.
   *
   * @param address without a display name
   * @return the entry; an address that is on the list already keeps its reason
   * @throws PostriderException when it was refused
   */
  public Suppression add(String address) {
    return add(address, null);
  }

  /**
   * Suppresses an address.
   *
   * @param address without a display name
   * @param reason why it gets no mail; null for {@link RejectionReason#MANUAL}
   * @return the entry; an address that is on the list already keeps its reason
   * @throws PostriderException when it was refused
   */
  public Suppression add(String address, RejectionReason reason) {
    return new Suppression(caller.call(Call.of("POST", PATH, body("address", address, reason))));
  }

  /**
   * Takes an address off the list, so that it gets mail again.
   *
   * @param address that is on the list
   * @throws PostriderException when it is not
   */
  public void remove(String address) {
    caller.callForNothing(Call.of("DELETE", Call.pathOfAddress(PATH, address)));
  }

  /**
   * Suppresses up to 10,000 addresses. Those that can't be used are counted and left out.
   *
   * @param addresses without display names
   * @param reason why they get no mail; null for {@link RejectionReason#MANUAL}
   * @return what became of them
   * @throws PostriderException when the call failed
   */
  public SuppressionImport importAddresses(Collection<String> addresses, RejectionReason reason) {
    return add(body("addresses", List.copyOf(addresses), reason));
  }

  /**
   * Suppresses up to 10,000 addresses. Those that can't be used are counted and left out.
   *
   * @param csv the text of a file whose first line names the columns: address and, if it has them,
   *     reason and created_at; a plain list of addresses, one per line, works too
   * @param reason holds where the CSV gives none; null for {@link RejectionReason#MANUAL}
   * @return what became of them
   * @throws PostriderException when the call failed
   */
  public SuppressionImport importCsv(String csv, RejectionReason reason) {
    return add(body("csv", csv, reason));
  }

  private SuppressionImport add(Map<String, Object> body) {
    return new SuppressionImport(caller.call(Call.of("POST", PATH + "/import", body)));
  }

  private static Map<String, Object> body(String name, Object value, RejectionReason reason) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put(name, value);
    if (reason != null) {
      body.put("reason", Query.valueOf(reason));
    }
    return body;
  }
}
