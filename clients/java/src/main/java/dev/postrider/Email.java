package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One message, and what happened to it. */
public final class Email extends ApiObject {
  private final String id;
  private final String submissionId;
  private final MessageState state;
  private final String from;
  private final String to;
  private final String subject;
  private final String source;
  private final String headerMessageId;
  private final Map<String, String> tags;
  private final Map<String, String> metadata;
  private final Instant createdAt;
  private final List<Event> events;

  Email(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.submissionId = fields.text("submission_id");
    this.state = fields.constant("state", MessageState.class, MessageState.UNKNOWN);
    this.from = fields.text("from");
    this.to = fields.text("to");
    this.subject = fields.text("subject");
    this.source = fields.text("source");
    this.headerMessageId = fields.text("header_message_id");
    this.tags = fields.textsByName("tags");
    this.metadata = fields.textsByName("metadata");
    this.createdAt = fields.time("created_at");
    this.events = fields.objects("events", Event::new);
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
   * The call that it was sent with.
   *
   * @return a UUID
   */
  public String submissionId() {
    return submissionId;
  }

  /**
   * How far it has come.
   *
   * @return the state
   */
  public MessageState state() {
    return state;
  }

  /**
   * The address that it is sent from.
   *
   * @return a bare address
   */
  public String from() {
    return from;
  }

  /**
   * The address of its recipient.
   *
   * @return a bare address
   */
  public String to() {
    return to;
  }

  /**
   * The subject.
   *
   * @return as it was given
   */
  public String subject() {
    return subject;
  }

  /**
   * How it was handed in.
   *
   * @return "smtp"; empty where it was by HTTP
   */
  public Optional<String> source() {
    return Optional.ofNullable(source);
  }

  /**
   * The Message-ID that the application gave it.
   *
   * @return empty where it was not handed in by SMTP
   */
  public Optional<String> headerMessageId() {
    return Optional.ofNullable(headerMessageId);
  }

  /**
   * The tags of the call.
   *
   * @return empty where it gave none
   */
  public Optional<Map<String, String>> tags() {
    return Optional.ofNullable(tags);
  }

  /**
   * The metadata of the call.
   *
   * @return empty where it gave none
   */
  public Optional<Map<String, String>> metadata() {
    return Optional.ofNullable(metadata);
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
   * What happened to it.
   *
   * @return oldest first
   */
  public List<Event> events() {
    return events;
  }
}
