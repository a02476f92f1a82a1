package dev.postrider;

/** What a fault in one email does to a batch. */
public enum OnError {
  /** What is good is accepted, and the results say what was refused. */
  SKIP
}
