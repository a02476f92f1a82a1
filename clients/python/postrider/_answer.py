"""What an answer of the service means: a value, or one of the errors."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

from ._connection import Answer
from ._decode import decode
from ._errors import (
    AuthError,
    PostriderError,
    RateLimitError,
    ScopeError,
    ServerError,
    TenantNotActiveError,
    ValidationError,
)
from ._models import DomainCheck


def object_of(body: bytes) -> dict[str, Any] | None:
    """The JSON object of a body, or None."""
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def result_of(answer: Answer) -> dict[str, Any]:
    """The value of a good answer, {} of an empty one."""
    if answer.status == 204:
        return {}
    value = object_of(answer.body)
    if value is not None:
        return value
    raise PostriderError(
        f"The service answered {answer.status} with a body that is no JSON"
        " object; is base_url the address of Postrider?",
        code=f"http_{answer.status}",
        status=answer.status,
        request_id=answer.headers.get("x-request-id"),
    )


def error_of(answer: Answer) -> PostriderError:
    """Of an answer that is not 2xx."""
    status = answer.status
    body = object_of(answer.body) or {}
    code = _text(body.get("error")) or f"http_{status}"
    message = _text(body.get("message")) or _unexplained(status)
    request_id = answer.headers.get("x-request-id")
    details: Any = {
        "code": code,
        "status": status,
        "request_id": request_id,
        "index": _integer(body.get("index")),
    }
    if status == 401:
        return AuthError(message, **details)
    if status == 403 and code == "scope_required":
        return ScopeError(message, **details)
    if status == 403 and code == "tenant_not_active":
        return TenantNotActiveError(message, **details)
    if status == 429:
        seconds = _retry_after(answer, body)
        return RateLimitError(message, **details, retry_after=seconds)
    if 400 <= status < 500:
        check = body.get("check")
        return ValidationError(
            message,
            **details,
            domain=_text(body.get("domain")),
            check=decode(DomainCheck, check) if isinstance(check, dict) else None,
        )
    if status >= 500:
        return ServerError(message, **details)
    return PostriderError(message, **details)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _integer(value: Any) -> int | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer else None


def _unexplained(status: int) -> str:
    name = http.client.responses.get(status, "")
    answered = f"The service answered {status} {name}".rstrip()
    if 300 <= status < 400:
        return (
            f"{answered}; redirects are not followed."
            " Set base_url to where it leads."
        )
    return f"{answered} without an explanation."


def _retry_after(answer: Answer, body: dict[str, Any]) -> int | None:
    """In seconds; None when the answer does not say."""
    header = (answer.headers.get("retry-after") or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", header):
        return int(header)
    seconds = _integer(body.get("retry_after_secs"))
    # Nine digits are 31 years, as above: no more can be waited for.
    is_possible = seconds is not None and 0 <= seconds <= 999_999_999
    return seconds if is_possible else None
