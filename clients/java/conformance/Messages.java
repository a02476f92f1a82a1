import dev.postrider.Attachment;
import dev.postrider.SendBatchRequest;
import dev.postrider.SendRequest;
import java.util.Base64;
import java.util.Map;

/** What is sent. */
final class Messages {
  private Messages() {}

  static SendBatchRequest batch(Arguments args) {
    SendBatchRequest.Builder batch = SendBatchRequest.builder();
    args.objects("emails").forEach(email -> batch.emails(mail(email)));
    if (args.has("on_error")) {
      batch.onError(args.text("on_error"));
    }
    if (args.has("idempotency_key")) {
      batch.idempotencyKey(args.text("idempotency_key"));
    }
    return batch.build();
  }

  static SendRequest mail(Arguments args) {
    SendRequest.Builder mail = SendRequest.builder();
    mail.from(args.text("from")).to(args.oneOrMore("to"));
    if (args.has("subject")) {
      mail.subject(args.text("subject"));
    }
    if (args.has("html")) {
      mail.html(args.text("html"));
    }
    if (args.has("text")) {
      mail.text(args.text("text"));
    }
    if (args.has("template_id")) {
      mail.templateId(args.text("template_id"));
    }
    if (args.has("data")) {
      mail.data(args.map("data"));
    }
    if (args.has("headers")) {
      mail.headers(args.texts("headers"));
    }
    if (args.has("idempotency_key")) {
      mail.idempotencyKey(args.text("idempotency_key"));
    }
    if (args.has("send_at")) {
      mail.sendAt(args.text("send_at"));
    }
    if (args.has("send_at_time")) {
      mail.sendAt(args.time("send_at_time"));
    }
    addCopies(mail, args);
    addLabels(mail, args);
    args.objects("attachments").forEach(given -> mail.attachments(attachment(given)));
    return mail.build();
  }

  private static void addCopies(SendRequest.Builder mail, Arguments args) {
    if (args.has("cc")) {
      mail.cc(args.oneOrMore("cc"));
    }
    if (args.has("bcc")) {
      mail.bcc(args.oneOrMore("bcc"));
    }
    if (args.has("reply_to")) {
      mail.replyTo(args.oneOrMore("reply_to"));
    }
  }

  private static void addLabels(SendRequest.Builder mail, Arguments args) {
    if (args.has("tags")) {
      mail.tags(args.texts("tags"));
    }
    if (args.has("metadata")) {
      mail.metadata(args.texts("metadata"));
    }
    if (args.has("tracking")) {
      Map<String, Object> tracking = args.map("tracking");
      if (tracking.containsKey("opens")) {
        mail.trackOpens((Boolean) tracking.get("opens"));
      }
      if (tracking.containsKey("clicks")) {
        mail.trackClicks((Boolean) tracking.get("clicks"));
      }
    }
  }

  private static Attachment attachment(Arguments given) {
    Attachment.Builder attachment = Attachment.builder().filename(given.text("filename"));
    if (given.has("content")) {
      attachment.contentBase64(given.text("content"));
    } else {
      attachment.content(Base64.getDecoder().decode(given.text("content_bytes")));
    }
    if (given.has("content_type")) {
      attachment.contentType(given.text("content_type"));
    }
    if (given.has("content_id")) {
      attachment.contentId(given.text("content_id"));
    }
    return attachment.build();
  }
}
