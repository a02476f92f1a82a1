import dev.postrider.ApiObject;
import dev.postrider.Attachment;
import dev.postrider.Event;
import dev.postrider.ListEventsRequest;
import dev.postrider.Postrider;
import dev.postrider.SendRequest;
import dev.postrider.TemplateRequest;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The calls by their names. */
final class Calls {
  private Calls() {}

  static Object perform(Postrider client, String method, Arguments args) {
    switch (method) {
      case "emails.send":
        return plain(client.emails().send(mail(args)));
      case "emails.get":
        return plain(client.emails().get(args.text("id")));
      case "submissions.get":
        return plain(client.submissions().get(args.text("id")));
      case "domains.create":
        return plain(client.domains().create(args.text("domain"), args.text("selector")));
      case "domains.list":
        return plain(client.domains().list());
      case "domains.get":
        return plain(client.domains().get(args.text("id")));
      case "domains.verify":
        return plain(client.domains().verify(args.text("id")));
      case "domains.delete":
        return plain(client.domains().delete(args.text("id")));
      case "webhooks.create":
        return plain(client.webhooks().create(args.text("url"), args.text("description")));
      case "webhooks.list":
        return plain(client.webhooks().list());
      case "webhooks.get":
        return plain(client.webhooks().get(args.text("id")));
      case "webhooks.delete":
        client.webhooks().delete(args.text("id"));
        return null;
      case "templates.create":
        return plain(client.templates().create(template(args)));
      case "templates.update":
        return plain(client.templates().update(args.text("id"), template(args)));
      case "templates.list":
        return plain(client.templates().list());
      case "templates.get":
        return plain(client.templates().get(args.text("id")));
      case "templates.delete":
        client.templates().delete(args.text("id"));
        return null;
      case "events.list":
        return plain(client.events().list(page(args)));
      case "health":
        return plain(client.health());
      case "inspect":
        return client + " " + client.emails();
      default:
        throw new IllegalArgumentException("no such method: " + method);
    }
  }

  static Object verify(Arguments args) {
    Map<String, Object> headers = args.map("headers");
    String secret = args.text("secret");
    return plain(args.has("tolerance_seconds") ? verifyWithin(args, headers, secret) : verify(args, headers, secret));
  }

  private static Event verify(Arguments args, Map<String, Object> headers, String secret) {
    return args.has("payload")
        ? Postrider.verifyWebhook(args.text("payload"), headers, secret)
        : Postrider.verifyWebhook(bytes(args), headers, secret);
  }

  private static Event verifyWithin(Arguments args, Map<String, Object> headers, String secret) {
    Duration tolerance = Duration.ofSeconds(args.number("tolerance_seconds"));
    return args.has("payload")
        ? Postrider.verifyWebhook(args.text("payload"), headers, secret, tolerance)
        : Postrider.verifyWebhook(bytes(args), headers, secret, tolerance);
  }

  private static byte[] bytes(Arguments args) {
    return Base64.getDecoder().decode(args.text("payload_base64"));
  }

  private static SendRequest mail(Arguments args) {
    SendRequest.Builder mail = SendRequest.builder();
    mail.from(args.text("from")).to(args.oneOrMore("to")).subject(args.text("subject"));
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

  private static TemplateRequest template(Arguments args) {
    TemplateRequest.Builder template = TemplateRequest.builder().name(args.text("name"));
    if (args.has("html")) {
      template.html(args.text("html"));
    }
    if (args.has("text")) {
      template.text(args.text("text"));
    }
    return template.build();
  }

  private static ListEventsRequest page(Arguments args) {
    ListEventsRequest.Builder page = ListEventsRequest.builder();
    if (args.has("after")) {
      page.after(args.text("after"));
    }
    if (args.has("limit")) {
      page.limit((int) args.number("limit"));
    }
    return page.build();
  }

  private static List<Object> plain(List<? extends ApiObject> answers) {
    return answers.stream().map(Outcome::fields).collect(Collectors.toList());
  }

  private static Object plain(ApiObject answer) {
    return Outcome.fields(answer);
  }
}
