"""What a message is made of, in the names of the API."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

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


def attachment_body(attachment: Attachment) -> dict[str, Any]:
    """Raises PostriderError for what is none, or has no content of bytes or str."""
    if not isinstance(attachment, Attachment):
        raise PostriderError(
            "attachments is a list of Attachment objects.",
            code="invalid_argument",
        )
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
        raise PostriderError(
            "The content of an attachment is bytes, or a str in base64.",
            code="invalid_argument",
        ) from error


def addresses(one_or_more: str | Sequence[str]) -> str | list[str]:
    """As JSON has them."""
    return one_or_more if isinstance(one_or_more, str) else list(one_or_more)


def given(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    return {name: value for name, value in fields.items() if value is not None}
