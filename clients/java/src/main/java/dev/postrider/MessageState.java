package dev.postrider;

/**
 * How far a message has come. Delivered, bounced, failed and canceled are the end, except that a
 * report may turn delivered into bounced.
 */
public enum MessageState {
  /** It waits for the time that the call asked for. */
  SCHEDULED,

  /** It waits for its first attempt. */
  QUEUED,

  /** An attempt is under way. */
  SENDING,

  /** It waits for another attempt. */
  DEFERRED,

  /** The receiving server took it. */
  DELIVERED,

  /** It was refused for good. */
  BOUNCED,

  /** It was given up. */
  FAILED,

  /** It was ended before it was sent. */
  CANCELED,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
