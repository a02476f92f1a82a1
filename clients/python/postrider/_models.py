"""What the service answers. Times are strings, as the API writes them."""

from __future__ import annotations

from dataclasses import dataclass

from ._events import Event


@dataclass(frozen=True)
class Rejected:
    """A recipient who was dropped before queuing."""

    to: str
    reason: str


@dataclass(frozen=True)
class SendResult:
    """An accepted message: ``message_ids`` has one id per recipient.

    They are in the order of ``to``, ``cc`` and ``bcc``.
    """

    id: str
    message_ids: list[str]
    rejected: list[Rejected]
    replayed: bool


@dataclass(frozen=True)
class BatchRefusal:
    """An email of a batch that was not accepted."""

    error: str
    message: str


@dataclass(frozen=True)
class BatchResult:
    """In the order of the emails. Refusals only with ``on_error="skip"``."""

    results: list[SendResult | BatchRefusal]


@dataclass(frozen=True)
class DnsRecord:
    """A record to publish in DNS."""

    name: str
    type: str
    value: str
    required: bool
    purpose: str


@dataclass(frozen=True)
class DomainCheck:
    """What a look at one DNS record has shown."""

    record: str
    name: str
    type: str
    required: bool
    ok: bool
    expected: str
    found: list[str]
    reason: str | None
    # What is right, or what to change.
    message: str


@dataclass(frozen=True)
class Domain:
    """A sending domain. ``state``: pending, verified, failed or revoked."""

    id: str
    domain: str
    state: str
    dkim_selector: str
    dkim_public_key_b64: str
    failure_reason: str | None
    created_at: str
    verified_at: str | None
    last_checked_at: str | None
    records: list[DnsRecord]


@dataclass(frozen=True)
class VerifiedDomain(Domain):
    """A domain that has just been verified."""

    checks: list[DomainCheck]


@dataclass(frozen=True)
class Template:
    """A template in Liquid."""

    id: str
    name: str
    html: str | None
    text: str | None
    created_at: str
    updated_at: str
    subject: str | None = None


@dataclass(frozen=True)
class Email:
    """What became of a message.

    ``state``: scheduled, queued, sending, deferred, delivered, bounced, failed
    or canceled.
    """

    id: str
    submission_id: str
    state: str
    from_: str
    to: str
    subject: str
    created_at: str
    events: list[Event]
    # None where the call gave none.
    tags: dict[str, str] | None = None
    metadata: dict[str, str] | None = None
    # "smtp"; None: it was handed in by HTTP.
    source: str | None = None
    # The Message-ID of a mail that was handed in by SMTP.
    header_message_id: str | None = None


@dataclass(frozen=True)
class ListedEmail:
    """A message in a list; ``emails.get`` has its events."""

    id: str
    submission_id: str
    state: str
    from_: str
    to: str
    subject: str
    created_at: str
    # None where the call gave none.
    tags: dict[str, str] | None
    metadata: dict[str, str] | None
    # The Message-ID of a mail that was handed in by SMTP.
    header_message_id: str | None = None


@dataclass(frozen=True)
class EmailPage:
    """With ``has_more`` ask again with ``next`` as ``after``.

    A search looks at a bounded number of messages: a page with ``complete``
    False can be short or empty although more follow.
    """

    emails: list[ListedEmail]
    has_more: bool
    complete: bool
    next: str | None


@dataclass(frozen=True)
class SubmissionMessage:
    """One message of a submission. ``kind``: to, cc or bcc."""

    id: str
    to: str
    kind: str
    state: str


@dataclass(frozen=True)
class Submission:
    """One call of ``emails.send``, and what became of its messages."""

    id: str
    created_at: str
    # None: at once.
    send_at: str | None
    from_: str
    subject: str
    tags: dict[str, str] | None
    metadata: dict[str, str] | None
    # In the order of ``to``, ``cc`` and ``bcc``.
    messages: list[SubmissionMessage]
    rejected: list[Rejected]
    # "smtp"; None: it was handed in by HTTP.
    source: str | None = None
    # The Message-ID of a mail that was handed in by SMTP.
    header_message_id: str | None = None


@dataclass(frozen=True)
class MoveResult:
    """When the messages will be sent."""

    id: str
    send_at: str


@dataclass(frozen=True)
class CancelResult:
    """The ids of the messages that are canceled, and of those that are not."""

    canceled: list[str]
    # Finished, or being sent.
    too_late: list[str]


@dataclass(frozen=True)
class Health:
    """``status``: ok or db_unreachable."""

    status: str
