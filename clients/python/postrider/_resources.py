"""The calls about what an account has beside its messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._calls import Calls, path_of
from ._decode import decode
from ._events import EventPage
from ._managing import (
    ImportResult,
    RotatedWebhook,
    Suppression,
    SuppressionPage,
    Webhook,
    WebhookDeliveryPage,
    WebhookReplay,
    WebhookTestResult,
    WebhookWithSecret,
)
from ._message import given
from ._models import Domain, Template, VerifiedDomain


class Domains(Calls):
    """Sending domains."""

    def create(self, *, domain: str, selector: str | None = None) -> Domain:
        """Registers a domain; its ``records`` are to be published in DNS."""
        body = given({"domain": domain, "selector": selector})
        return decode(
            Domain, self._transport.call("POST", "/domains", body=body)
        )

    def list(self) -> list[Domain]:
        """All domains, oldest first."""
        answer = self._transport.call("GET", "/domains")
        return [decode(Domain, each) for each in answer.get("domains", [])]

    def get(self, id: str) -> Domain:
        """One domain."""
        path = path_of("/domains", id)
        return decode(Domain, self._transport.call("GET", path))

    def verify(self, id: str) -> VerifiedDomain:
        """Looks at the DNS records now; ValidationError says what is wrong."""
        path = path_of("/domains", id) + "/verify"
        return decode(VerifiedDomain, self._transport.call("POST", path))

    def delete(self, id: str) -> Domain:
        """Revokes a domain: nothing is sent from it any more."""
        path = path_of("/domains", id)
        return decode(Domain, self._transport.call("DELETE", path))


class Webhooks(Calls):
    """Addresses that are told of events."""

    def create(
        self,
        *,
        url: str,
        description: str | None = None,
        events: Sequence[str] | None = None,
    ) -> WebhookWithSecret:
        """Registers an address; the secret is shown only here.

        :param events: types and families; otherwise every event
        """
        body = _webhook_body(url, description, events)
        answer = self._transport.call("POST", "/webhooks", body=body)
        return decode(WebhookWithSecret, answer)

    def list(self) -> list[Webhook]:
        """All webhooks, oldest first."""
        answer = self._transport.call("GET", "/webhooks")
        return [decode(Webhook, each) for each in answer.get("webhooks", [])]

    def get(self, id: str) -> Webhook:
        """One webhook."""
        path = path_of("/webhooks", id)
        return decode(Webhook, self._transport.call("GET", path))

    def update(
        self,
        id: str,
        *,
        url: str | None = None,
        description: str | None = None,
        events: Sequence[str] | None = None,
    ) -> Webhook:
        """Changes what is given; an empty list of events is every event."""
        path = path_of("/webhooks", id)
        body = _webhook_body(url, description, events)
        return decode(Webhook, self._transport.call("PATCH", path, body=body))

    def rotate(self, id: str) -> RotatedWebhook:
        """Makes a new secret, shown only here; the old one signs for 24 h more.

        Only retried after a 429. After another error the secret may be a new
        one, which nobody knows: rotate it again.
        """
        path = path_of("/webhooks", id) + "/rotate"
        answer = self._transport.call("POST", path, is_repeatable=False)
        return decode(RotatedWebhook, answer)

    def test(self, id: str) -> WebhookTestResult:
        """Sends a test event, and waits up to 15 s for what it is answered."""
        path = path_of("/webhooks", id) + "/test"
        return decode(WebhookTestResult, self._transport.call("POST", path))

    def deliveries(
        self,
        id: str,
        *,
        state: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> WebhookDeliveryPage:
        """What a webhook was sent, or will be: one entry for each event.

        :param state: due, delivered or failed
        :param after: ``next`` of the page before
        :param limit: 1 to 100, otherwise 25
        """
        path = path_of("/webhooks", id) + "/deliveries"
        query = {"state": state, "after": after, "limit": limit}
        answer = self._transport.call("GET", path, query=query)
        return decode(WebhookDeliveryPage, answer)

    def replay(self, id: str, *, event_id: str) -> WebhookReplay:
        """Sends an event again, with the same id."""
        deliveries = path_of("/webhooks", id) + "/deliveries"
        path = path_of(deliveries, event_id, name="event_id") + "/replay"
        return decode(WebhookReplay, self._transport.call("POST", path))

    def delete(self, id: str) -> None:
        """Removes a webhook; what is due for it is dropped."""
        self._transport.call("DELETE", path_of("/webhooks", id))


class Templates(Calls):
    """Templates in Liquid."""

    def create(
        self,
        *,
        name: str,
        html: str | None = None,
        text: str | None = None,
        subject: str | None = None,
    ) -> Template:
        """Stores a template. Its subject is for calls that have none."""
        body = _template_body(name, html, text, subject)
        return decode(
            Template, self._transport.call("POST", "/templates", body=body)
        )

    def update(
        self,
        id: str,
        *,
        name: str,
        html: str | None = None,
        text: str | None = None,
        subject: str | None = None,
    ) -> Template:
        """Replaces all of a template: what is not given is gone."""
        body = _template_body(name, html, text, subject)
        path = path_of("/templates", id)
        return decode(Template, self._transport.call("PUT", path, body=body))

    def delete(self, id: str) -> None:
        """Removes a template."""
        self._transport.call("DELETE", path_of("/templates", id))

    def list(self) -> list[Template]:
        """All templates, oldest first."""
        answer = self._transport.call("GET", "/templates")
        return [decode(Template, each) for each in answer.get("templates", [])]

    def get(self, id: str) -> Template:
        """One template."""
        path = path_of("/templates", id)
        return decode(Template, self._transport.call("GET", path))


class Events(Calls):
    """What happened to messages."""

    def list(
        self, *, after: str | None = None, limit: int | None = None
    ) -> EventPage:
        """Events in their order, after the one with this id."""
        query = {"after": after, "limit": limit}
        answer = self._transport.call("GET", "/events", query=query)
        return decode(EventPage, answer)


class Suppressions(Calls):
    """Addresses that get no mail from this account."""

    def list(
        self,
        *,
        address: str | None = None,
        reason: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> SuppressionPage:
        """In alphabetical order.

        :param address: only this one
        :param reason: hard_bounce, complaint, unsubscribe or manual
        :param after: ``next`` of the page before
        :param limit: 1 to 1,000, otherwise 100
        """
        query = {
            "address": address,
            "reason": reason,
            "after": after,
            "limit": limit,
        }
        answer = self._transport.call("GET", "/suppressions", query=query)
        return decode(SuppressionPage, answer)

    def add(self, *, address: str, reason: str | None = None) -> Suppression:
        """The entry. An address on the list already keeps its reason."""
        body = given({"address": address, "reason": reason})
        answer = self._transport.call("POST", "/suppressions", body=body)
        return decode(Suppression, answer)

    def remove(self, address: str) -> None:
        """Lets mail to an address through again."""
        path = path_of("/suppressions", address, name="address")
        self._transport.call("DELETE", path)

    def import_(
        self,
        *,
        addresses: Sequence[str] | None = None,
        csv: str | None = None,
        reason: str | None = None,
    ) -> ImportResult:
        """Adds up to 10,000 addresses, from a list or from CSV.

        :param csv: its first line names the columns: ``address``, and perhaps
            ``reason`` and ``created_at``
        :param reason: for those whose reason the CSV does not say
        """
        body = given(
            {
                "addresses": None if addresses is None else list(addresses),
                "csv": csv,
                "reason": reason,
            }
        )
        path = "/suppressions/import"
        answer = self._transport.call("POST", path, body=body)
        return decode(ImportResult, answer)


def _webhook_body(
    url: str | None, description: str | None, events: Sequence[str] | None
) -> dict[str, Any]:
    return given(
        {
            "url": url,
            "description": description,
            "events": None if events is None else list(events),
        }
    )


def _template_body(
    name: str, html: str | None, text: str | None, subject: str | None
) -> dict[str, Any]:
    return given({"name": name, "html": html, "text": text, "subject": subject})
