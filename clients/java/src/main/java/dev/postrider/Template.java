package dev.postrider;

import java.time.Instant;
import java.util.Optional;

/** A stored content that sending fills in. */
public final class Template extends ApiObject {
  private final String id;
  private final String name;
  private final String html;
  private final String text;
  private final String subject;
  private final Instant createdAt;
  private final Instant updatedAt;

  Template(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.name = fields.text("name");
    this.html = fields.text("html");
    this.text = fields.text("text");
    this.subject = fields.text("subject");
    this.createdAt = fields.time("created_at");
    this.updatedAt = fields.time("updated_at");
  }

  /**
   * The id.
   *
   * @return a UUID
   */
  public String id() {
    return id;
  }

  /**
   * Its name, for people.
   *
   * @return need not be unique
   */
  public String name() {
    return name;
  }

  /**
   * The HTML part.
   *
   * @return Liquid; empty when there is none
   */
  public Optional<String> html() {
    return Optional.ofNullable(html);
  }

  /**
   * The text part.
   *
   * @return Liquid; empty when there is none
   */
  public Optional<String> text() {
    return Optional.ofNullable(text);
  }

  /**
   * The subject of messages that have none of their own.
   *
   * @return Liquid; empty when there is none
   */
  public Optional<String> subject() {
    return Optional.ofNullable(subject);
  }

  /**
   * When it was created.
   *
   * @return a time with milliseconds
   */
  public Instant createdAt() {
    return createdAt;
  }

  /**
   * When it was last changed.
   *
   * @return a time with milliseconds
   */
  public Instant updatedAt() {
    return updatedAt;
  }
}
