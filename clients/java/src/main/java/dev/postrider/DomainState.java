package dev.postrider;

/** Whether a domain can be sent from. */
public enum DomainState {
  /** It has not been checked yet. */
  PENDING,

  /** It can be sent from. */
  VERIFIED,

  /** Its record was not as expected. */
  FAILED,

  /** It was deleted. */
  REVOKED,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
