"""Events, as the API and the webhooks tell them. Times are strings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
class Cancellation:
    """Of ``email.canceled``. ``by``: sender or operator."""

    by: str | None
    reason: str | None


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
class WebhookTest:
    """Of ``test``, which only ``webhooks.test`` and the portal send."""

    message: str | None


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
    cancellation: Cancellation | None = None
    test: WebhookTest | None = None
    # The Message-ID of a mail that was handed in by SMTP.
    header_message_id: str | None = None


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
