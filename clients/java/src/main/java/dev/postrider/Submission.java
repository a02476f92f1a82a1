package dev.postrider;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One call of {@link Emails#send(SendRequest)}, and what became of its messages. */
public final class Submission extends ApiObject {
  private final String id;
  private final Instant createdAt;
  private final Instant sendAt;
  private final String from;
  private final String subject;
  private final String source;
  private final String headerMessageId;
  private final Map<String, String> tags;
  private final Map<String, String> metadata;
  private final List<SubmissionMessage> messages;
  private final List<Rejection> rejected;

  Submission(Fields fields) {
    super(fields);
    this.id = fields.text("id");
    this.createdAt = fields.time("created_at");
    this.sendAt = fields.time("send_at");
    this.from = fields.text("from");
    this.subject = fields.text("subject");
    this.source = fields.text("source");
    this.headerMessageId = fields.text("header_message_id");
    this.tags = fields.textsByName("tags");
    this.metadata = fields.textsByName("metadata");
    this.messages = fields.objects("messages", SubmissionMessage::new);
    this.rejected = fields.objects("rejected", Rejection::new);
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
   * When it was accepted.
   *
   * @return a time with milliseconds
   */
  public Instant createdAt() {
    return createdAt;
  }

  /**
   * When it is or was to be sent.
   *
   * @return empty when that was at once
   */
  public Optional<Instant> sendAt() {
    return Optional.ofNullable(sendAt);
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
   * The messages, one for each recipient.
   *
   * @return in the order of to, cc and bcc
   */
  public List<SubmissionMessage> messages() {
    return messages;
  }

  /**
   * The recipients that got nothing.
   *
   * @return those on a suppression list
   */
  public List<Rejection> rejected() {
    return rejected;
  }
}
