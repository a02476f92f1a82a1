"""What the service answers. Times are strings, as the API writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
class Webhook:
    """An address that is told of events."""

    id: str
    url: str
    description: str | None
    created_at: str


@dataclass(frozen=True)
class WebhookWithSecret(Webhook):
    """A new webhook. No other answer shows the secret."""

    secret: str = field(repr=False)


@dataclass(frozen=True)
class Template:
    """A template in Liquid."""

    id: str
    name: str
    html: str | None
    text: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class Tls:
    """How the connection to the receiving server was secured."""

    version: str | None
    cipher: str | None
    verified: bool | None
    policy: str | None


@dataclass(frozen=True)
class Delivery:
    """Of ``email.delivered`` and ``email.deferred``."""

    mx: str | None
    remote_ip: str | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None
    tls: Tls | None
    attempt: int | None
    elapsed_ms: int | None
    next_attempt_at: str | None


@dataclass(frozen=True)
class Bounce:
    """Of ``email.bounced`` and ``email.failed``."""

    type: str | None
    source: str | None
    smtp_code: int | None
    enhanced_code: str | None
    diagnostic: str | None
    mx: str | None
    reporting_mta: str | None
    attempt: int | None
    suppressed: bool | None


@dataclass(frozen=True)
class Complaint:
    """Of ``email.complained``."""

    feedback_type: str | None
    source: str | None
    user_agent: str | None
    arrival_date: str | None
    reported_domain: str | None
    suppressed: bool | None


@dataclass(frozen=True)
class Open:
    """Of ``email.opened``."""

    first: bool | None
    ip: str | None
    user_agent: str | None
    machine: bool | None
    machine_reason: str | None


@dataclass(frozen=True)
class Click:
    """Of ``email.clicked``."""

    url: str | None
    link_index: int | None
    first: bool | None
    ip: str | None
    user_agent: str | None
    machine: bool | None


@dataclass(frozen=True)
class EventData:
    """What all events have, and the part that is named after what happened."""

    message_id: str
    submission_id: str
    from_: str
    to: str
    subject: str
    domain: str
    delivery: Delivery | None
    bounce: Bounce | None
    complaint: Complaint | None
    open: Open | None
    click: Click | None
    # None where the call gave none.
    tags: dict[str, str] | None = None
    metadata: dict[str, str] | None = None


@dataclass(frozen=True)
class Event:
    """One recipient's one fact. ``raw`` has also what this version does not know."""

    id: str
    type: str
    family: str
    timestamp: str
    data: EventData
    raw: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class EventPage:
    """Events in their order; with ``has_more`` ask again after the last one's id."""

    events: list[Event]
    has_more: bool


@dataclass(frozen=True)
class Email:
    """What became of a message."""

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


@dataclass(frozen=True)
class Health:
    """``status``: ok or db_unreachable."""

    status: str
