package dev.postrider;

/** Why an address is on a suppression list. */
public enum RejectionReason {
  /** The mailbox does not exist. */
  HARD_BOUNCE,

  /** The recipient complained. */
  COMPLAINT,

  /** The recipient unsubscribed. */
  UNSUBSCRIBE,

  /** Somebody put it there. */
  MANUAL,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
