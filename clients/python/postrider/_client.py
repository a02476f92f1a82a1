"""The client: the calls of the API."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ._decode import decode
from ._errors import PostriderError
from ._message import (
    Attachment,
    Tracking,
    addresses,
    attachment_body,
    given,
)
from ._models import (
    Domain,
    Email,
    EventPage,
    Health,
    SendResult,
    Submission,
    Template,
    VerifiedDomain,
    Webhook,
    WebhookWithSecret,
)
from ._options import DEFAULT_RETRIES, DEFAULT_TIMEOUT, read_options
from ._transport import Transport


class Postrider:
    """The API with one key. Threads can share a client.

    :param api_key: otherwise the variable POSTRIDER_API_KEY
    :param base_url: otherwise the variable POSTRIDER_BASE_URL
    :param max_retries: after network failures, 429 and 5xx; 0 for none
    :param timeout: seconds for each attempt
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        max_retries: int = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        options = read_options(api_key, base_url, max_retries, timeout)
        self._shown = f"{options.host}:{options.port}{options.path}"
        self._transport = Transport(options)
        self.emails = Emails(self._transport)
        self.submissions = Submissions(self._transport)
        self.domains = Domains(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.templates = Templates(self._transport)
        self.events = Events(self._transport)

    def __repr__(self) -> str:
        return f"<Postrider at {self._shown}>"

    def health(self) -> Health:
        """Whether the service reaches its database; never raises for that."""
        answer = self._transport.call("GET", "/healthz", is_health=True)
        return decode(Health, answer)


class _Calls:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


class Emails(_Calls):
    """Messages."""

    def send(
        self,
        *,
        from_: str,
        to: str | Sequence[str],
        subject: str,
        html: str | None = None,
        text: str | None = None,
        template_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        cc: str | Sequence[str] | None = None,
        bcc: str | Sequence[str] | None = None,
        reply_to: str | Sequence[str] | None = None,
        attachments: Sequence[Attachment] | None = None,
        tags: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        tracking: Tracking | None = None,
    ) -> SendResult:
        """Sends one message to each recipient.

        With ``cc`` or ``bcc`` all get a copy of one letter, which shows ``to``
        and ``cc``. ``tags`` and ``metadata`` are in every event.

        The idempotency key is made here when there is none: attempts that
        are repeated never send twice.
        """
        body = given(
            {
                "from": from_,
                "to": addresses(to),
                "subject": subject,
                "html": html,
                "text": text,
                "template_id": template_id,
                "data": None if data is None else dict(data),
                "headers": None if headers is None else dict(headers),
                "cc": None if cc is None else addresses(cc),
                "bcc": None if bcc is None else addresses(bcc),
                "reply_to": None if reply_to is None else addresses(reply_to),
                "attachments": None
                if attachments is None
                else [attachment_body(each) for each in attachments],
                "tags": None if tags is None else dict(tags),
                "metadata": None if metadata is None else dict(metadata),
                "tracking": None if tracking is None else dict(tracking),
            }
        )
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        answer = self._transport.call(
            "POST", "/emails", body=body, idempotency_key=_checked_key(key)
        )
        return decode(SendResult, answer)

    def get(self, id: str) -> Email:
        """What became of a message, by one of ``message_ids``."""
        path = _path("/emails", id)
        return decode(Email, self._transport.call("GET", path))


class Submissions(_Calls):
    """Calls of ``emails.send``, with all their messages."""

    def get(self, id: str) -> Submission:
        """What became of all messages of one call, by its result's ``id``."""
        path = _path("/submissions", id)
        return decode(Submission, self._transport.call("GET", path))


class Domains(_Calls):
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
        path = _path("/domains", id)
        return decode(Domain, self._transport.call("GET", path))

    def verify(self, id: str) -> VerifiedDomain:
        """Looks at the DNS records now; ValidationError says what is wrong."""
        path = _path("/domains", id) + "/verify"
        return decode(VerifiedDomain, self._transport.call("POST", path))

    def delete(self, id: str) -> Domain:
        """Revokes a domain: nothing is sent from it any more."""
        path = _path("/domains", id)
        return decode(Domain, self._transport.call("DELETE", path))


class Webhooks(_Calls):
    """Addresses that are told of events."""

    def create(
        self, *, url: str, description: str | None = None
    ) -> WebhookWithSecret:
        """Registers an address; the secret is shown only here."""
        body = given({"url": url, "description": description})
        answer = self._transport.call("POST", "/webhooks", body=body)
        return decode(WebhookWithSecret, answer)

    def list(self) -> list[Webhook]:
        """All webhooks, oldest first."""
        answer = self._transport.call("GET", "/webhooks")
        return [decode(Webhook, each) for each in answer.get("webhooks", [])]

    def get(self, id: str) -> Webhook:
        """One webhook."""
        path = _path("/webhooks", id)
        return decode(Webhook, self._transport.call("GET", path))

    def delete(self, id: str) -> None:
        """Removes a webhook; what is due for it is dropped."""
        self._transport.call("DELETE", _path("/webhooks", id))


class Templates(_Calls):
    """Templates in Liquid."""

    def create(
        self, *, name: str, html: str | None = None, text: str | None = None
    ) -> Template:
        """Stores a template."""
        body = given({"name": name, "html": html, "text": text})
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
    ) -> Template:
        """Replaces all of a template: what is not given is gone."""
        body = given({"name": name, "html": html, "text": text})
        path = _path("/templates", id)
        return decode(Template, self._transport.call("PUT", path, body=body))

    def delete(self, id: str) -> None:
        """Removes a template."""
        self._transport.call("DELETE", _path("/templates", id))

    def list(self) -> list[Template]:
        """All templates, oldest first."""
        answer = self._transport.call("GET", "/templates")
        return [decode(Template, each) for each in answer.get("templates", [])]

    def get(self, id: str) -> Template:
        """One template."""
        path = _path("/templates", id)
        return decode(Template, self._transport.call("GET", path))


class Events(_Calls):
    """What happened to messages."""

    def list(
        self, *, after: str | None = None, limit: int | None = None
    ) -> EventPage:
        """Events in their order, after the one with this id."""
        query = {"after": after, "limit": limit}
        answer = self._transport.call("GET", "/events", query=query)
        return decode(EventPage, answer)


def _path(collection: str, id: str) -> str:
    # An empty id would be the whole list, and dots climb: neither is meant.
    if not isinstance(id, str) or id in ("", ".", ".."):
        raise PostriderError(
            "id is the id of a record, a UUID.", code="invalid_argument"
        )
    return f"{collection}/{quote(id, safe='')}"


def _checked_key(key: str) -> str:
    is_text = isinstance(key, str) and key.strip() != ""
    if is_text and re.fullmatch(r"[\x20-\x7e]+", key):
        return key
    raise PostriderError(
        "idempotency_key is a text of printable ASCII characters.",
        code="invalid_argument",
    )
