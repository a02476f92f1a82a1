package dev.postrider;

import static dev.postrider.Check.equal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What a list or a change asks for. */
public final class RequestTest {
  public void testWhatWasNotGivenIsNotSent() {
    equal(ListEmailsRequest.builder().build().query(), "");
    equal(ListEventsRequest.builder().after(null).limit(5).build().query(), "?limit=5");
    equal(StatsRequest.builder().by((StatsInterval) null).build().query(), "");
    equal(WebhookRequest.builder().build().body().isEmpty(), true);
  }

  public void testConstantsAndTimesAreWrittenAsInTheApi() {
    ListEmailsRequest.Builder emails = ListEmailsRequest.builder().state(MessageState.DELIVERED).state("odd");
    Instant at = Instant.parse("2026-11-20T00:00:00Z");
    equal(emails.createdAfter(at).build().query(), "?state=odd&created_after=2026-11-20T00%3A00%3A00.000Z");
    StatsRequest stats = StatsRequest.builder().from(at).to("2026-11-21").by(StatsInterval.HOUR).build();
    equal(stats.query(), "?from=2026-11-20T00%3A00%3A00.000Z&to=2026-11-21&by=hour");
    ListSuppressionsRequest.Builder list = ListSuppressionsRequest.builder();
    equal(list.address("a+b c@d.example").reason(RejectionReason.HARD_BOUNCE).build().toString(),
        "ListSuppressionsRequest?address=a%2Bb%20c%40d.example&reason=hard_bounce");
    ListDeliveriesRequest.Builder deliveries = ListDeliveriesRequest.builder();
    equal(deliveries.state(WebhookDeliveryState.DUE).build().query(), "?state=due");
  }

  public void testLaterChangesDoNotReachIt() {
    ListEmailsRequest.Builder builder = ListEmailsRequest.builder().tag("a:b");
    ListEmailsRequest first = builder.build();
    builder.tag("c:d");
    equal(first.query(), "?tag=a%3Ab");
    List<String> events = new ArrayList<>(List.of("bounce"));
    WebhookRequest webhook = WebhookRequest.builder().events(events).build();
    events.clear();
    equal(webhook.body().get("events"), List.of("bounce"));
    equal(WebhookRequest.builder().events().build().body().get("events"), List.of());
  }
}
