"""What the calls of all parts of the API share."""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from ._errors import PostriderError
from ._transport import Transport


class Calls:
    """One part of the API."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def path_of(collection: str, id: str, *, name: str = "id") -> str:
    """Of one record. ``name`` is what the caller knows ``id`` as."""
    # An empty id would be the whole list, and dots climb: neither is meant.
    if not isinstance(id, str) or id in ("", ".", ".."):
        kind = "the id of a record, a UUID" if name.endswith("id") else "a text"
        raise PostriderError(
            f"{name} is {kind}, and not empty.", code="invalid_argument"
        )
    return f"{collection}/{quote(id, safe='')}"


def key_for(idempotency_key: str | None) -> str:
    """The caller's key, or a new one."""
    if idempotency_key is None:
        return str(uuid.uuid4())
    is_text = isinstance(idempotency_key, str) and idempotency_key.strip()
    if is_text and re.fullmatch(r"[\x20-\x7e]+", idempotency_key):
        return idempotency_key
    raise PostriderError(
        "idempotency_key is a text of printable ASCII characters.",
        code="invalid_argument",
    )


def time_text(name: str, value: str | datetime | None) -> str | None:
    """A time as the API takes it; a text is sent as it was given."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return _in_utc(name, value)
    raise _no_time(name)


def _in_utc(name: str, value: datetime) -> str:
    try:
        utc = value.astimezone(timezone.utc)
    except OverflowError:
        raise _no_time(name) from None
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _no_time(name: Any) -> PostriderError:
    return PostriderError(
        f"{name} is a datetime with a time zone, or a text like"
        " 2026-12-24T18:00:00+01:00.",
        code="invalid_argument",
    )
