package dev.postrider;

/** What can happen to a message, and what a test event has instead. */
public enum EventType {
  /** The receiving server took it. */
  EMAIL_DELIVERED,

  /** The first attempt that failed for now, or a notice of delay. */
  EMAIL_DEFERRED,

  /** It was refused for good. */
  EMAIL_BOUNCED,

  /** It was given up. */
  EMAIL_FAILED,

  /** It was ended before it was sent. */
  EMAIL_CANCELED,

  /** Its recipient complained. */
  EMAIL_COMPLAINED,

  /** The tracking pixel was fetched. */
  EMAIL_OPENED,

  /** A tracked link was followed. */
  EMAIL_CLICKED,

  /** Nothing happened: somebody tried the webhook. It is not in the feed. */
  TEST,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
