import dev.postrider.ListDeliveriesRequest;
import dev.postrider.ListEmailsRequest;
import dev.postrider.ListEventsRequest;
import dev.postrider.ListSuppressionsRequest;
import dev.postrider.RejectionReason;
import dev.postrider.StatsRequest;
import dev.postrider.TemplateRequest;
import dev.postrider.WebhookRequest;
import java.util.Locale;
import java.util.function.Consumer;

/** What is managed and listed. */
final class Requests {
  private Requests() {}

  static ListEmailsRequest search(Arguments args) {
    ListEmailsRequest.Builder search = ListEmailsRequest.builder();
    ifGiven(args, "state", search::state);
    ifGiven(args, "to", search::to);
    ifGiven(args, "from", search::from);
    ifGiven(args, "tag", search::tag);
    ifGiven(args, "created_after", search::createdAfter);
    ifGiven(args, "created_before", search::createdBefore);
    ifGiven(args, "after", search::after);
    if (args.has("limit")) {
      search.limit((int) args.number("limit"));
    }
    return search.build();
  }

  static ListSuppressionsRequest suppressions(Arguments args) {
    ListSuppressionsRequest.Builder list = ListSuppressionsRequest.builder();
    ifGiven(args, "address", list::address);
    ifGiven(args, "reason", list::reason);
    ifGiven(args, "after", list::after);
    if (args.has("limit")) {
      list.limit((int) args.number("limit"));
    }
    return list.build();
  }

  static ListDeliveriesRequest deliveries(Arguments args) {
    ListDeliveriesRequest.Builder list = ListDeliveriesRequest.builder();
    ifGiven(args, "state", list::state);
    ifGiven(args, "after", list::after);
    if (args.has("limit")) {
      list.limit((int) args.number("limit"));
    }
    return list.build();
  }

  static StatsRequest stats(Arguments args) {
    StatsRequest.Builder stats = StatsRequest.builder();
    ifGiven(args, "from", stats::from);
    ifGiven(args, "to", stats::to);
    ifGiven(args, "by", stats::by);
    ifGiven(args, "tag", stats::tag);
    return stats.build();
  }

  static WebhookRequest webhook(Arguments args) {
    WebhookRequest.Builder webhook = WebhookRequest.builder();
    ifGiven(args, "url", webhook::url);
    ifGiven(args, "description", webhook::description);
    if (args.has("events")) {
      webhook.events(args.list("events"));
    }
    return webhook.build();
  }

  /** Null for none. */
  static RejectionReason reason(Arguments args) {
    return args.has("reason") ? RejectionReason.valueOf(args.text("reason").toUpperCase(Locale.ROOT)) : null;
  }

  private static void ifGiven(Arguments args, String name, Consumer<String> set) {
    if (args.has(name)) {
      set.accept(args.text(name));
    }
  }

  static TemplateRequest template(Arguments args) {
    TemplateRequest.Builder template = TemplateRequest.builder().name(args.text("name"));
    if (args.has("html")) {
      template.html(args.text("html"));
    }
    if (args.has("text")) {
      template.text(args.text("text"));
    }
    if (args.has("subject")) {
      template.subject(args.text("subject"));
    }
    return template.build();
  }

  static ListEventsRequest events(Arguments args) {
    ListEventsRequest.Builder page = ListEventsRequest.builder();
    if (args.has("after")) {
      page.after(args.text("after"));
    }
    if (args.has("limit")) {
      page.limit((int) args.number("limit"));
    }
    return page.build();
  }
}
