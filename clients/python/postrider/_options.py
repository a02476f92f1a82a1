"""The options of a client: what was given, else the environment, checked."""

from __future__ import annotations

import math
import os
import re
import ssl
import threading
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ._errors import PostriderError

DEFAULT_RETRIES = 3
DEFAULT_TIMEOUT = 30.0


@dataclass(frozen=True)
class Options:
    """Everything that a call needs to know."""

    # Tools that show the variables of a frame print what this object prints.
    api_key: str = field(repr=False)
    host: str
    port: int
    # None for plain HTTP.
    tls: ssl.SSLContext | None
    # Without a slash at its end.
    path: str
    max_retries: int
    timeout: float


def read_options(
    api_key: str | None,
    base_url: str | None,
    max_retries: int,
    timeout: float,
) -> Options:
    """Raises PostriderError when something is missing or cannot be used."""
    if isinstance(max_retries, bool) or not isinstance(max_retries, int):
        raise _invalid("max_retries is a whole number from 0 on.")
    if max_retries < 0:
        raise _invalid("max_retries is a whole number from 0 on.")
    # Neither None nor infinity: a call without an end holds up its caller.
    is_number = isinstance(timeout, (int, float)) and math.isfinite(timeout)
    if not is_number or timeout <= 0:
        raise _invalid("timeout is a number of seconds above 0.")
    key = _read_key(_given(api_key, "POSTRIDER_API_KEY"))
    scheme, host, port, path = _read_base_url(
        _given(base_url, "POSTRIDER_BASE_URL")
    )
    return Options(
        api_key=key,
        host=host,
        port=port,
        tls=ssl.create_default_context() if scheme == "https" else None,
        path=path,
        max_retries=max_retries,
        timeout=min(float(timeout), threading.TIMEOUT_MAX),
    )


def _given(argument: str | None, variable: str) -> str:
    text = argument if argument is not None else os.environ.get(variable, "")
    return text.strip() if isinstance(text, str) else ""


def _read_key(key: str) -> str:
    if key == "":
        raise PostriderError(
            "There is no API key: pass api_key, or set POSTRIDER_API_KEY.",
            code="missing_api_key",
        )
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise _invalid(
            "The API key has characters that no key has; copy it once more."
        )
    return key


def _read_base_url(text: str) -> tuple[str, str, int, str]:
    if text == "":
        raise PostriderError(
            "There is no address of the service: pass base_url,"
            " or set POSTRIDER_BASE_URL.",
            code="missing_base_url",
        )
    no_url = "base_url is an absolute URL that begins with https:// or http://."
    if not re.fullmatch(r"[\x21-\x7e]+", text):
        raise _invalid(no_url)
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _invalid(no_url) from None
    if url.scheme not in ("http", "https") or not url.hostname:
        raise _invalid(no_url)
    if "@" in url.netloc or "?" in text or "#" in text:
        raise _invalid("base_url has no user name, no query and no fragment.")
    usual = 443 if url.scheme == "https" else 80
    return url.scheme, url.hostname, port or usual, url.path.rstrip("/")


def _invalid(message: str) -> PostriderError:
    return PostriderError(message, code="invalid_option")
