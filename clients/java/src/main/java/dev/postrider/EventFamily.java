package dev.postrider;

/** The kinds of events. */
public enum EventFamily {
  /** Delivered, deferred or canceled. */
  DELIVERY,

  /** Bounced or failed. */
  BOUNCE,

  /** Complained. */
  COMPLAINT,

  /** Opened or clicked. */
  OPEN,

  /** A test event. */
  TEST,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
