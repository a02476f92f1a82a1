package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The sums of a span of whole hours or days. */
public final class Stats extends ApiObject {
  private final Instant from;
  private final Instant to;
  private final StatsInterval by;
  private final String tag;
  private final Boolean isComplete;
  private final Figures total;
  private final List<StatsStep> steps;

  Stats(Fields fields) {
    super(fields);
    this.from = fields.time("from");
    this.to = fields.time("to");
    this.by = fields.constant("by", StatsInterval.class, StatsInterval.UNKNOWN);
    this.tag = fields.text("tag");
    this.isComplete = fields.flag("complete");
    this.total = fields.object("total", Figures::new);
    this.steps = fields.objects("steps", StatsStep::new);
  }

  /**
   * The beginning of the span.
   *
   * @return a whole hour or day, in UTC
   */
  public Instant from() {
    return from;
  }

  /**
   * The end of the span, which is not in it.
   *
   * @return a whole hour or day, in UTC
   */
  public Instant to() {
    return to;
  }

  /**
   * The length of a step.
   *
   * @return the interval
   */
  public StatsInterval by() {
    return by;
  }

  /**
   * The tag that was asked for.
   *
   * @return empty without one
   */
  public Optional<String> tag() {
    return Optional.ofNullable(tag);
  }

  /**
   * Whether the tag was counted on all days.
   *
   * @return false when a day had too many tags, so that sums may be too low; empty without a tag
   */
  public Optional<Boolean> isComplete() {
    return Optional.ofNullable(isComplete);
  }

  /**
   * The sums of the whole span.
   *
   * @return the sums
   */
  public Figures total() {
    return total;
  }

  /**
   * The sums of each step, those without anything included.
   *
   * @return oldest first
   */
  public List<StatsStep> steps() {
    return steps;
  }
}
