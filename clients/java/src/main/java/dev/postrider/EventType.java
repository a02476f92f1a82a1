package dev.postrider;

/** What can happen to a message. */
public enum EventType {
  /** The receiving server took it. */
  EMAIL_DELIVERED,

  /** The first attempt that failed for now, or a notice of delay. */
  EMAIL_DEFERRED,

  /** It was refused for good. */
  EMAIL_BOUNCED,

  /** It was given up. */
  EMAIL_FAILED,

  /** Its recipient complained. */
  EMAIL_COMPLAINED,

  /** The tracking pixel was fetched. */
  EMAIL_OPENED,

  /** A tracked link was followed. */
  EMAIL_CLICKED,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
