package dev.postrider;

import java.util.Map;
import java.util.Optional;

/**
 * Which message an event is about, and what happened: exactly one of delivery, bounce,
 * cancellation, complaint, open, click and test is there, by the type of the event.
 */
public final class EventData extends ApiObject {
  private final String messageId;
  private final String submissionId;
  private final String from;
  private final String to;
  private final String subject;
  private final String domain;
  private final String headerMessageId;
  private final Map<String, String> tags;
  private final Map<String, String> metadata;
  private final Delivery delivery;
  private final Bounce bounce;
  private final Cancellation cancellation;
  private final Complaint complaint;
  private final Open open;
  private final Click click;
  private final TestNotice test;

  EventData(Fields fields) {
    super(fields);
    this.messageId = fields.text("message_id");
    this.submissionId = fields.text("submission_id");
    this.from = fields.text("from");
    this.to = fields.text("to");
    this.subject = fields.text("subject");
    this.domain = fields.text("domain");
    this.headerMessageId = fields.text("header_message_id");
    this.tags = fields.textsByName("tags");
    this.metadata = fields.textsByName("metadata");
    this.delivery = fields.object("delivery", Delivery::new);
    this.bounce = fields.object("bounce", Bounce::new);
    this.cancellation = fields.object("cancellation", Cancellation::new);
    this.complaint = fields.object("complaint", Complaint::new);
    this.open = fields.object("open", Open::new);
    this.click = fields.object("click", Click::new);
    this.test = fields.object("test", TestNotice::new);
  }

  /**
   * The id of the message.
   *
   * @return a UUID
   */
  public String messageId() {
    return messageId;
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
   * The address that it was sent from.
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
   * Its subject.
   *
   * @return as it was given
   */
  public String subject() {
    return subject;
  }

  /**
   * The domain that it was sent from.
   *
   * @return a name
   */
  public String domain() {
    return domain;
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
   * The attempt.
   *
   * @return there when it was delivered or deferred
   */
  public Optional<Delivery> delivery() {
    return Optional.ofNullable(delivery);
  }

  /**
   * The refusal.
   *
   * @return there when it bounced or failed
   */
  public Optional<Bounce> bounce() {
    return Optional.ofNullable(bounce);
  }

  /**
   * The end before it was sent.
   *
   * @return there when it was canceled
   */
  public Optional<Cancellation> cancellation() {
    return Optional.ofNullable(cancellation);
  }

  /**
   * The complaint.
   *
   * @return there when its recipient complained
   */
  public Optional<Complaint> complaint() {
    return Optional.ofNullable(complaint);
  }

  /**
   * The fetch of the pixel.
   *
   * @return there when it was opened
   */
  public Optional<Open> open() {
    return Optional.ofNullable(open);
  }

  /**
   * The visit.
   *
   * @return there when a link was followed
   */
  public Optional<Click> click() {
    return Optional.ofNullable(click);
  }

  /**
   * What a test event says.
   *
   * @return there when it is one
   */
  public Optional<TestNotice> test() {
    return Optional.ofNullable(test);
  }
}
