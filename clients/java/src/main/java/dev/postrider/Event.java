package dev.postrider;

import java.time.Instant;

/** One fact about one message. */
public final class Event extends ApiObject {
  private final String id;
  private final EventType type;
  private final EventFamily family;
  private final Instant timestamp;
  private final EventData data;

  Event(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.type = fields.constant("type", EventType.class, EventType.UNKNOWN);
    this.family = fields.constant("family", EventFamily.class, EventFamily.UNKNOWN);
    this.timestamp = fields.time("timestamp");
    this.data = fields.object("data", EventData::new);
  }

  /**
   * The id of the event: know it by this, since it may come twice.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * What happened.
   *
   * @return the type
   */
  public EventType type() {
    return type;
  }

  /**
   * The kind of what happened.
   *
   * @return the family
   */
  public EventFamily family() {
    return family;
  }

  /**
   * When it happened.
   *
   * @return a time with milliseconds
   */
  public Instant timestamp() {
    return timestamp;
  }

  /**
   * Which message it was, and the particulars.
   *
   * @return the data
   */
  public EventData data() {
    return data;
  }
}
