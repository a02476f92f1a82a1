"""Webhooks, suppressions and figures, as the service answers them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Webhook:
    """An address that is told of events."""

    id: str
    url: str
    description: str | None
    created_at: str
    # Types and families; None: every event.
    events: list[str] | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class WebhookWithSecret(Webhook):
    """A new webhook. No other answer shows the secret."""

    secret: str = field(repr=False)


@dataclass(frozen=True)
class RotatedWebhook(WebhookWithSecret):
    """A webhook with its new secret, which no other answer shows."""

    # Until then the previous secret signs, too.
    previous_until: str


@dataclass(frozen=True)
class WebhookTestResult:
    """What the endpoint answered to a test event."""

    # Whether it answered 2xx.
    accepted: bool
    # Of the HTTP response; None without one.
    status: int | None
    # The outcome, as a sentence.
    reason: str
    # The first 4 KiB of the response's body.
    answer: str | None
    elapsed_ms: int


@dataclass(frozen=True)
class WebhookAttempt:
    """One attempt to send an event to a webhook."""

    number: int
    started_at: str
    elapsed_ms: int
    # Of the HTTP response; None without one.
    status: int | None
    reason: str
    answer: str | None


@dataclass(frozen=True)
class WebhookDelivery:
    """One event for one webhook. ``state``: due, delivered or failed."""

    event_id: str
    type: str
    state: str
    attempts: int
    next_attempt_at: str | None
    finished_at: str | None
    # The last one that has ended.
    last_attempt: WebhookAttempt | None


@dataclass(frozen=True)
class WebhookDeliveryPage:
    """With ``has_more`` ask again with ``next`` as ``after``."""

    deliveries: list[WebhookDelivery]
    has_more: bool
    next: str | None


@dataclass(frozen=True)
class WebhookReplay:
    """An event that will be sent again. ``state``: due."""

    webhook_id: str
    event_id: str
    state: str


@dataclass(frozen=True)
class Suppression:
    """An address that gets no mail.

    ``reason``: hard_bounce, complaint, unsubscribe or manual.
    """

    address: str
    reason: str
    # The message that led to it.
    message_id: str | None
    created_at: str


@dataclass(frozen=True)
class SuppressionPage:
    """With ``has_more`` ask again with ``next`` as ``after``."""

    suppressions: list[Suppression]
    has_more: bool
    next: str | None


@dataclass(frozen=True)
class ImportRefusal:
    """An entry of an import that can't be used: of the list, or of the CSV."""

    message: str
    # In ``addresses``, from 0.
    index: int | None
    # Of ``csv``, from 1.
    line: int | None


@dataclass(frozen=True)
class ImportResult:
    """What came of an import. ``refusals`` has the first 100."""

    added: int
    # On the list already.
    known: int
    refused: int
    refusals: list[ImportRefusal]
    # Columns of the CSV that are not understood, and were not imported.
    ignored_columns: list[str]


@dataclass(frozen=True)
class Figures:
    """What was counted."""

    accepted: int
    delivered: int
    # Events, not messages.
    deferred: int
    bounced_hard: int
    bounced_soft: int
    bounced_block: int
    # After delivery; included in the three above.
    bounced_later: int
    failed: int
    canceled: int
    complained: int
    opened: int
    # Of those opened: most likely not by a person.
    opened_by_machine: int
    clicked: int


@dataclass(frozen=True)
class FiguresStep(Figures):
    """The figures of one hour or day."""

    start: str


@dataclass(frozen=True)
class Stats:
    """Figures over a span, and for each of its steps, oldest first."""

    from_: str
    to: str
    # hour or day
    by: str
    total: Figures
    steps: list[FiguresStep]
    # Both None unless a tag was asked for. ``complete`` is False if the tag is
    # not counted on a day that had too many.
    tag: str | None
    complete: bool | None
