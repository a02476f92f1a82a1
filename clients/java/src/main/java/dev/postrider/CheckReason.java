package dev.postrider;

/** What is wrong with a DNS record. */
public enum CheckReason {
  /** There is none. */
  NOT_FOUND,

  /** It says something else. */
  MISMATCH,

  /** It cannot be read. */
  INVALID_RECORD,

  /** There are several where one may be. */
  MULTIPLE_RECORDS,

  /** The name servers did not answer. */
  DNS_UNAVAILABLE,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
