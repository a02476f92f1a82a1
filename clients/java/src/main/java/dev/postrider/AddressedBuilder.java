package dev.postrider;

import java.util.Collection;
import java.util.List;

/**
 * The part of the way to a message that says from whom and to whom it is. {@code B} is the class
 * that callers see.
 */
abstract class AddressedBuilder<B extends AddressedBuilder<B>> {
  final MessageBody body = new MessageBody();

  AddressedBuilder() {}

  /** This, as what callers see. */
  abstract B self();

  /**
   * The sender.
   *
   * @param from {@code addr@domain} or {@code Name <addr@domain>}; the domain is a verified one of
   *     yours
   * @return this
   */
  public B from(String from) {
    body.put("from", from);
    return self();
  }

  /**
   * Adds recipients. There may be up to 50; each gets a message of their own that shows nobody
   * else.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B to(String... addresses) {
    return to(List.of(addresses));
  }

  /**
   * Adds recipients.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B to(Collection<String> addresses) {
    body.addAll("to", addresses);
    return self();
  }

  /**
   * Adds recipients of copies; the limit of 50 counts to, cc and bcc together. With cc or bcc all
   * recipients get a copy of one letter, which shows to and cc.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B cc(String... addresses) {
    return cc(List.of(addresses));
  }

  /**
   * Adds recipients of copies.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B cc(Collection<String> addresses) {
    body.addAll("cc", addresses);
    return self();
  }

  /**
   * Adds recipients of copies, who are shown to nobody.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B bcc(String... addresses) {
    return bcc(List.of(addresses));
  }

  /**
   * Adds recipients of copies, who are shown to nobody.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B bcc(Collection<String> addresses) {
    body.addAll("bcc", addresses);
    return self();
  }

  /**
   * Adds addresses that answers go to, up to 10.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B replyTo(String... addresses) {
    return replyTo(List.of(addresses));
  }

  /**
   * Adds addresses that answers go to, up to 10.
   *
   * @param addresses each like that of the sender
   * @return this
   */
  public B replyTo(Collection<String> addresses) {
    body.addAll("reply_to", addresses);
    return self();
  }
}
