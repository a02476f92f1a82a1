package dev.postrider;

/** The kinds of events. */
public enum EventFamily {
  /** Delivered or deferred. */
  DELIVERY,

  /** Bounced or failed. */
  BOUNCE,

  /** Complained. */
  COMPLAINT,

  /** Opened or clicked. */
  OPEN,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
