import dev.postrider.ApiObject;
import dev.postrider.Event;
import dev.postrider.Postrider;
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
        return plain(client.emails().send(Messages.mail(args)));
      case "emails.send_batch":
        return plain(client.emails().sendBatch(Messages.batch(args)));
      case "emails.get":
        return plain(client.emails().get(args.text("id")));
      case "emails.list":
        return plain(client.emails().list(Requests.search(args)));
      case "submissions.get":
        return plain(client.submissions().get(args.text("id")));
      case "submissions.move":
        return plain(move(client, args));
      case "submissions.cancel":
        return plain(client.submissions().cancel(args.text("id")));
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
      case "templates.create":
        return plain(client.templates().create(Requests.template(args)));
      case "templates.update":
        return plain(client.templates().update(args.text("id"), Requests.template(args)));
      case "templates.list":
        return plain(client.templates().list());
      case "templates.get":
        return plain(client.templates().get(args.text("id")));
      case "templates.delete":
        client.templates().delete(args.text("id"));
        return null;
      case "events.list":
        return plain(client.events().list(Requests.events(args)));
      default:
        return manage(client, method, args);
    }
  }

  private static Object manage(Postrider client, String method, Arguments args) {
    switch (method) {
      case "webhooks.create":
        return plain(client.webhooks().create(Requests.webhook(args)));
      case "webhooks.list":
        return plain(client.webhooks().list());
      case "webhooks.get":
        return plain(client.webhooks().get(args.text("id")));
      case "webhooks.update":
        return plain(client.webhooks().update(args.text("id"), Requests.webhook(args)));
      case "webhooks.rotate":
        return plain(client.webhooks().rotate(args.text("id")));
      case "webhooks.test":
        return plain(client.webhooks().test(args.text("id")));
      case "webhooks.deliveries":
        return plain(client.webhooks().deliveries(args.text("id"), Requests.deliveries(args)));
      case "webhooks.replay":
        return plain(client.webhooks().replay(args.text("id"), args.text("event_id")));
      case "webhooks.delete":
        client.webhooks().delete(args.text("id"));
        return null;
      case "suppressions.list":
        return plain(client.suppressions().list(Requests.suppressions(args)));
      case "suppressions.add":
        return plain(client.suppressions().add(args.text("address"), Requests.reason(args)));
      case "suppressions.remove":
        client.suppressions().remove(args.text("address"));
        return null;
      case "suppressions.import":
        return plain(importSuppressions(client, args));
      case "stats":
        return plain(client.stats(Requests.stats(args)));
      case "health":
        return plain(client.health());
      case "inspect":
        return client + " " + client.emails();
      default:
        throw new IllegalArgumentException("no such method: " + method);
    }
  }

  private static ApiObject move(Postrider client, Arguments args) {
    return args.has("send_at_time")
        ? client.submissions().move(args.text("id"), args.time("send_at_time"))
        : client.submissions().move(args.text("id"), args.text("send_at"));
  }

  private static ApiObject importSuppressions(Postrider client, Arguments args) {
    return args.has("csv")
        ? client.suppressions().importCsv(args.text("csv"), Requests.reason(args))
        : client.suppressions().importAddresses(args.list("addresses"), Requests.reason(args));
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

  private static List<Object> plain(List<? extends ApiObject> answers) {
    return answers.stream().map(Outcome::fields).collect(Collectors.toList());
  }

  private static Object plain(ApiObject answer) {
    return Outcome.fields(answer);
  }
}
