package dev.postrider;

import java.time.Instant;

/** The sums of one hour or day. */
public final class StatsStep extends Figures {
  private final Instant start;

  StatsStep(Fields fields) {
    super(fields);
    this.start = fields.time("start");
  }

  /**
   * When it begins.
   *
   * @return a whole hour or day, in UTC
   */
  public Instant start() {
    return start;
  }
}
