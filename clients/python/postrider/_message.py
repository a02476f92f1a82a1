"""What a message is made of, in the names of the API."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from ._calls import time_text
from ._errors import PostriderError


@dataclass(frozen=True)
class Attachment:
    """A file to send along.

    :param filename: without a path
    :param content: bytes; or a ``str`` that is base64 already
    :param content_type: by the file name unless given
    :param content_id: for an image in the HTML, ``<img src="cid:…">``
    """

    filename: str
    content: bytes | bytearray | memoryview | str = field(repr=False)
    content_type: str | None = None
    content_id: str | None = None


class Tracking(TypedDict, total=False):
    """In place of the account's settings; what is not given stays."""

    opens: bool
    clicks: bool


class _Needed(TypedDict):
    from_: str
    to: str | Sequence[str]


class Message(_Needed, total=False):
    """An email of a batch: the arguments of ``emails.send``, without a key."""

    subject: str | None
    html: str | None
    text: str | None
    template_id: str | None
    data: Mapping[str, Any] | None
    headers: Mapping[str, str] | None
    cc: str | Sequence[str] | None
    bcc: str | Sequence[str] | None
    reply_to: str | Sequence[str] | None
    attachments: Sequence[Attachment] | None
    tags: Mapping[str, str] | None
    metadata: Mapping[str, str] | None
    tracking: Tracking | None
    send_at: str | datetime | None


def message_body(message: Mapping[str, Any]) -> dict[str, Any]:
    """As the API has it, of the arguments of ``emails.send``."""
    body: dict[str, Any] = {
        "from": message.get("from_"),
        "to": _addresses(message.get("to")),
    }
    for name in ("subject", "html", "text", "template_id"):
        body[name] = message.get(name)
    for name in ("data", "headers"):
        body[name] = _dict(message.get(name))
    for name in ("cc", "bcc", "reply_to"):
        body[name] = _addresses(message.get(name))
    attachments = message.get("attachments")
    if attachments is not None:
        body["attachments"] = [_attachment_body(each) for each in attachments]
    for name in ("tags", "metadata", "tracking"):
        body[name] = _dict(message.get(name))
    body["send_at"] = time_text("send_at", message.get("send_at"))
    return given(body)


def batch_body(emails: Iterable[Any]) -> list[dict[str, Any]]:
    """Raises PostriderError for what is no dict of these arguments."""
    return [_of_batch(index, email) for index, email in enumerate(emails)]


def _of_batch(index: int, email: Any) -> dict[str, Any]:
    if not isinstance(email, Mapping):
        raise _invalid(f"emails[{index}] is not a dict.")
    if "idempotency_key" in email:
        raise _invalid(
            f"emails[{index}] has an idempotency_key; only the whole batch can"
            " have one."
        )
    for name in email:
        if name not in Message.__annotations__:
            raise _invalid(f"emails[{index}] has an unknown field: {name!r}.")
    for name in _Needed.__annotations__:
        if name not in email:
            raise _invalid(f"emails[{index}] has no {name}.")
    return message_body(email)


def _attachment_body(attachment: Attachment) -> dict[str, Any]:
    """Raises PostriderError for what is none, or has no content of bytes or str."""
    if not isinstance(attachment, Attachment):
        raise _invalid("attachments is a list of Attachment objects.")
    return given(
        {
            "filename": attachment.filename,
            "content": _in_base64(attachment.content),
            "content_type": attachment.content_type,
            "content_id": attachment.content_id,
        }
    )


def _in_base64(content: Any) -> str:
    if isinstance(content, str):
        return content
    try:
        return base64.b64encode(content).decode("ascii")
    except TypeError as error:
        raise _invalid(
            "The content of an attachment is bytes, or a str in base64."
        ) from error


def _addresses(
    one_or_more: str | Sequence[str] | None,
) -> str | list[str] | None:
    if one_or_more is None or isinstance(one_or_more, str):
        return one_or_more
    return list(one_or_more)


def _dict(fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if fields is None else dict(fields)


def _invalid(message: str) -> PostriderError:
    return PostriderError(message, code="invalid_argument")


def given(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    return {name: value for name, value in fields.items() if value is not None}
