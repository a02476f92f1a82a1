"""The calls that send, and those that show or change what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ._calls import Calls, key_for, path_of, time_text
from ._decode import decode
from ._message import (
    Attachment,
    Message,
    Tracking,
    batch_body,
    given,
    message_body,
)
from ._models import (
    BatchRefusal,
    BatchResult,
    CancelResult,
    Email,
    EmailPage,
    MoveResult,
    SendResult,
    Submission,
)


class Emails(Calls):
    """Messages."""

    def send(
        self,
        *,
        from_: str,
        to: str | Sequence[str],
        subject: str | None = None,
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
        send_at: str | datetime | None = None,
    ) -> SendResult:
        """Sends one message to each recipient.

        With ``cc`` or ``bcc`` all get a copy of one letter, which shows ``to``
        and ``cc``. ``tags`` and ``metadata`` are in every event. ``subject``
        can be left out if the template has one.

        With ``send_at`` the messages wait for that time, at most 30 days: a
        ``datetime`` with a time zone, or a text like
        ``2026-12-24T18:00:00+01:00``.

        The idempotency key is made here when there is none: attempts that
        are repeated never send twice.
        """
        body = message_body(
            {
                "from_": from_,
                "to": to,
                "subject": subject,
                "html": html,
                "text": text,
                "template_id": template_id,
                "data": data,
                "headers": headers,
                "cc": cc,
                "bcc": bcc,
                "reply_to": reply_to,
                "attachments": attachments,
                "tags": tags,
                "metadata": metadata,
                "tracking": tracking,
                "send_at": send_at,
            }
        )
        key = key_for(idempotency_key)
        answer = self._transport.call(
            "POST", "/emails", body=body, idempotency_key=key
        )
        return decode(SendResult, answer)

    def send_batch(
        self,
        emails: Sequence[Message],
        *,
        on_error: str | None = None,
        idempotency_key: str | None = None,
    ) -> BatchResult:
        """Sends up to 100 emails with one call.

        :param emails: a dict for each, with the arguments of ``send`` except
            ``idempotency_key``
        :param on_error: ``skip`` accepts what is good; otherwise the first
            fault refuses all, and the error has its ``index``
        :param idempotency_key: for the whole batch
        """
        body = given({"emails": batch_body(emails), "on_error": on_error})
        key = key_for(idempotency_key)
        answer = self._transport.call(
            "POST", "/emails/batch", body=body, idempotency_key=key
        )
        return BatchResult([_of_batch(each) for each in answer.get("results", [])])

    def get(self, id: str) -> Email:
        """What became of a message, by one of ``message_ids``."""
        answer = self._transport.call("GET", path_of("/emails", id))
        return decode(Email, answer)

    def list(
        self,
        *,
        state: str | None = None,
        to: str | None = None,
        from_: str | None = None,
        tag: str | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> EmailPage:
        """Messages for which all of this is true, newest first.

        :param to: an address or a domain, as is ``from_``
        :param tag: name and value, ``name:value``
        :param after: ``next`` of the page before
        :param limit: 1 to 100, otherwise 25
        """
        query = {
            "state": state,
            "to": to,
            "from": from_,
            "tag": tag,
            "created_after": time_text("created_after", created_after),
            "created_before": time_text("created_before", created_before),
            "after": after,
            "limit": limit,
        }
        answer = self._transport.call("GET", "/emails", query=query)
        return decode(EmailPage, answer)


class Submissions(Calls):
    """Calls of ``emails.send``, with all their messages."""

    def get(self, id: str) -> Submission:
        """What became of all messages of one call, by its result's ``id``."""
        answer = self._transport.call("GET", path_of("/submissions", id))
        return decode(Submission, answer)

    def move(self, id: str, *, send_at: str | datetime) -> MoveResult:
        """Moves the messages that are still scheduled to another time."""
        body = given({"send_at": time_text("send_at", send_at)})
        answer = self._transport.call(
            "PATCH", path_of("/submissions", id), body=body
        )
        return decode(MoveResult, answer)

    def cancel(self, id: str) -> CancelResult:
        """Cancels the messages that are neither finished nor being sent."""
        answer = self._transport.call(
            "POST", path_of("/submissions", id) + "/cancel"
        )
        return decode(CancelResult, answer)


def _of_batch(result: Any) -> SendResult | BatchRefusal:
    fields = result if isinstance(result, dict) else {}
    if "error" in fields:
        return decode(BatchRefusal, fields)
    return decode(SendResult, fields)
