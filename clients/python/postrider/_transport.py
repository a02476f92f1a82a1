"""One call: its attempts, and the waits between them."""

from __future__ import annotations

import http.client
import json
import random
import time
from typing import Any
from urllib.parse import urlencode

from ._answer import error_of, object_of, result_of
from ._connection import Answer, exchange
from ._errors import NetworkError, PostriderError, RateLimitError, ServerError
from ._options import Options
from ._version import __version__

WAITS = (0.25, 1.0, 4.0)
# At most this part of a wait is added, so that clients which failed together
# do not come back together.
JITTER = 0.2


class Transport:
    """Makes calls. Has nothing that changes, so threads can share it."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def call(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        is_health: bool = False,
        is_repeatable: bool = True,
    ) -> dict[str, Any]:
        """The JSON object that came back.

        A call that is not repeatable is retried after a 429 only: that one
        has done nothing.
        """
        headers = {
            "Accept": "application/json",
            "User-Agent": f"postrider-python/{__version__}",
            "Connection": "close",
        }
        if not is_health:
            headers["Authorization"] = f"Bearer {self._options.api_key}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        # Made once: every attempt sends the same bytes.
        request = (
            method,
            self._options.path + path + _query_text(query or {}),
            headers,
            None if body is None else _json_bytes(body),
        )
        retry = 0
        while True:
            try:
                return self._attempt(request, is_health)
            except (RateLimitError, ServerError, NetworkError) as error:
                retry += 1
                if retry > self._options.max_retries:
                    raise
                if not is_repeatable and not isinstance(error, RateLimitError):
                    raise
                wait = _wait_before(retry, error)
            time.sleep(wait)

    def _attempt(self, request: Any, is_health: bool) -> dict[str, Any]:
        answer = self._exchange(request)
        if 200 <= answer.status < 300:
            return result_of(answer)
        if is_health and answer.status == 503:
            said = object_of(answer.body) or {}
            if said.get("status") == "db_unreachable":
                return said
        raise error_of(answer)

    def _exchange(self, request: Any) -> Answer:
        options = self._options
        try:
            return exchange(
                options.host,
                options.port,
                options.tls,
                options.timeout,
                request,
            )
        except TimeoutError as error:
            raise NetworkError(
                f"The service did not answer within {options.timeout:g} s.",
                timeout=True,
            ) from error
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise NetworkError(
                f"The service could not be reached: {reason}.", timeout=False
            ) from error


def _query_text(query: dict[str, Any]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _json_bytes(body: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise PostriderError(
            f"The request cannot be written as JSON: {error}.",
            code="invalid_argument",
        ) from error


def _wait_before(retry: int, error: PostriderError) -> float:
    if isinstance(error, RateLimitError) and error.retry_after is not None:
        return error.retry_after
    return WAITS[min(retry, len(WAITS)) - 1] * (1 + random.random() * JITTER)
