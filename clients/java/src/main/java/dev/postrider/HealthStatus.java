package dev.postrider;

/** Whether the service can do its work. */
public enum HealthStatus {
  /** It can. */
  OK,

  /** It cannot reach its database. */
  DB_UNREACHABLE,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
