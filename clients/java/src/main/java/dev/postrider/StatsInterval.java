package dev.postrider;

/** The length of a step of figures. */
public enum StatsInterval {
  /** An hour. */
  HOUR,

  /** A day, in UTC. */
  DAY,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
