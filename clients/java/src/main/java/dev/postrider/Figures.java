package dev.postrider;

/** Sums of what happened. */
public class Figures extends ApiObject {
  private final long accepted;
  private final long delivered;
  private final long deferred;
  private final long bouncedHard;
  private final long bouncedSoft;
  private final long bouncedBlock;
  private final long bouncedLater;
  private final long failed;
  private final long canceled;
  private final long complained;
  private final long opened;
  private final long openedByMachine;
  private final long clicked;

  Figures(Fields fields) {
    super(fields);
    this.accepted = fields.wholeNumber("accepted").orElse(0L);
    this.delivered = fields.wholeNumber("delivered").orElse(0L);
    this.deferred = fields.wholeNumber("deferred").orElse(0L);
    this.bouncedHard = fields.wholeNumber("bounced_hard").orElse(0L);
    this.bouncedSoft = fields.wholeNumber("bounced_soft").orElse(0L);
    this.bouncedBlock = fields.wholeNumber("bounced_block").orElse(0L);
    this.bouncedLater = fields.wholeNumber("bounced_later").orElse(0L);
    this.failed = fields.wholeNumber("failed").orElse(0L);
    this.canceled = fields.wholeNumber("canceled").orElse(0L);
    this.complained = fields.wholeNumber("complained").orElse(0L);
    this.opened = fields.wholeNumber("opened").orElse(0L);
    this.openedByMachine = fields.wholeNumber("opened_by_machine").orElse(0L);
    this.clicked = fields.wholeNumber("clicked").orElse(0L);
  }

  /**
   * Messages that were accepted.
   *
   * @return a count
   */
  public long accepted() {
    return accepted;
  }

  /**
   * Messages that the receiving server accepted.
   *
   * @return a count
   */
  public long delivered() {
    return delivered;
  }

  /**
   * Attempts that failed for now.
   *
   * @return a count of events
   */
  public long deferred() {
    return deferred;
  }

  /**
   * Bounces because the mailbox or domain does not exist.
   *
   * @return a count
   */
  public long bouncedHard() {
    return bouncedHard;
  }

  /**
   * Bounces for other reasons, such as a full mailbox.
   *
   * @return a count
   */
  public long bouncedSoft() {
    return bouncedSoft;
  }

  /**
   * Bounces because the receiver rejects the sender or the content.
   *
   * @return a count
   */
  public long bouncedBlock() {
    return bouncedBlock;
  }

  /**
   * Bounces after delivery.
   *
   * @return a count; they are also in one of the three before
   */
  public long bouncedLater() {
    return bouncedLater;
  }

  /**
   * Messages that the service gave up.
   *
   * @return a count
   */
  public long failed() {
    return failed;
  }

  /**
   * Messages that were canceled before they were sent.
   *
   * @return a count
   */
  public long canceled() {
    return canceled;
  }

  /**
   * Complaints.
   *
   * @return a count
   */
  public long complained() {
    return complained;
  }

  /**
   * Messages whose tracking pixel was fetched.
   *
   * @return a count
   */
  public long opened() {
    return opened;
  }

  /**
   * Those of them where it was most likely not a person.
   *
   * @return a count
   */
  public long openedByMachine() {
    return openedByMachine;
  }

  /**
   * Links that were followed.
   *
   * @return a count
   */
  public long clicked() {
    return clicked;
  }
}
