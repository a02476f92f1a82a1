package dev.postrider;

/** How final a bounce is for the address. */
public enum BounceType {
  /** The address does not exist. */
  HARD,

  /** Anything else, for example a mailbox that stayed full. */
  SOFT,

  /** The message or its sender was not wanted. */
  BLOCK,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
