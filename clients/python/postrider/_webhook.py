"""Verifies webhooks by Standard Webhooks 1.0: the signature is over the raw body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ._answer import object_of
from ._decode import decode
from ._errors import WebhookVerificationError
from ._events import Event

DEFAULT_TOLERANCE = 300.0


def verify_webhook(
    payload: str | bytes | bytearray | memoryview,
    headers: Mapping[str, str] | Iterable[tuple[str, str]],
    secret: str,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Event:
    """The event, when its signature and its time are right.

    :param payload: the body as it was received, before any JSON parser
    :param headers: of the request, names in any case
    :param secret: as the webhook's creation answered it
    :param tolerance: seconds, into the past and the future
    :raises WebhookVerificationError: ``code`` says why
    """
    key = _key_of(secret)
    body = _raw_bytes(payload)
    id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature")
    _check_time(timestamp, tolerance)
    signed = f"{id}.{timestamp}.".encode("utf-8", "surrogatepass") + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # All are compared, each in constant time.
    matches = [
        hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected)
        for given in signatures.split(" ")
    ]
    if not any(matches):
        raise _refused(
            "no_matching_signature",
            "No signature fits. Is this the secret of this webhook, and the"
            " body exactly as it was received?",
        )
    event = object_of(body)
    if event is None:
        raise _refused(
            "invalid_payload",
            "The signature fits, but the body is no JSON object.",
        )
    return decode(Event, event)


def _raw_bytes(payload: Any) -> bytes:
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogatepass")
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload)
    raise _refused(
        "payload_not_raw",
        "The payload is not the raw body. Pass the body as it was received"
        " (str or bytes), before any JSON parser.",
    )


def _header(headers: Any, name: str) -> str:
    pairs = headers.items() if hasattr(headers, "items") else headers
    for given, value in pairs:
        if isinstance(given, bytes):
            given = given.decode("latin-1")
        if given.lower() == name:
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            if isinstance(text, str) and text:
                return text
    raise _refused("missing_header", f"The header {name} is missing.")


def _key_of(secret: str) -> bytes:
    text = secret.strip() if isinstance(secret, str) else ""
    text = text.removeprefix("whsec_").rstrip("=")
    try:
        padded = text + "=" * (-len(text) % 4)
        key = base64.b64decode(padded.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if key:
        return key
    raise _refused(
        "invalid_secret",
        "The secret is not base64; copy it as POST /webhooks answered it.",
    )


def _check_time(timestamp: str, tolerance: float) -> None:
    if not re.fullmatch(r"[0-9]+", timestamp):
        raise _refused(
            "invalid_timestamp",
            "The header webhook-timestamp is no whole number of seconds.",
        )
    # By float, which takes any number of digits.
    age = time.time() - float(timestamp)
    if age < -tolerance:
        raise _refused(
            "timestamp_too_new",
            f"The webhook was signed more than {tolerance:g} seconds ahead of"
            " the clock of this machine.",
        )
    # Written so that a tolerance of NaN lets nothing pass.
    if not age <= tolerance:
        raise _refused(
            "timestamp_too_old",
            f"The webhook was signed more than {tolerance:g} seconds ago.",
        )


def _refused(code: str, message: str) -> WebhookVerificationError:
    return WebhookVerificationError(message, code=code)
