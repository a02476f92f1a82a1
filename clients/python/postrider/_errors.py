"""The errors of the library: PostriderError and its kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._models import DomainCheck


class PostriderError(Exception):
    """Anything that goes wrong here. ``status`` is None when there was no answer.

    ``index`` is the place of the faulty email in a batch, from 0.
    """

    # Defaults for all but the message: an exception that is pickled is made
    # again from its message alone, and gets its attributes afterwards.
    def __init__(
        self,
        message: str,
        *,
        code: str = "unknown",
        status: int | None = None,
        request_id: str | None = None,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.request_id = request_id
        self.index = index


class AuthError(PostriderError):
    """401: the API key is missing, wrong or revoked."""


class ScopeError(PostriderError):
    """403 ``scope_required``: the key may not make this call."""


class TenantNotActiveError(PostriderError):
    """403 ``tenant_not_active``: suspended, in review, or not confirmed yet."""


class ValidationError(PostriderError):
    """Any other 4xx. ``domain`` and ``check`` come with ``verification_failed``."""

    def __init__(
        self,
        message: str,
        *,
        domain: str | None = None,
        check: DomainCheck | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message, **details)
        self.domain = domain
        self.check = check


class RateLimitError(PostriderError):
    """429, after the retries. ``retry_after`` is in seconds, None when unknown."""

    def __init__(
        self, message: str, *, retry_after: int | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class ServerError(PostriderError):
    """5xx, after the retries."""


class NetworkError(PostriderError):
    """No complete answer. ``timeout`` says whether it was the time."""

    def __init__(self, message: str, *, timeout: bool = False) -> None:
        code = "timeout" if timeout else "network_error"
        super().__init__(message, code=code)
        self.timeout = timeout


class WebhookVerificationError(PostriderError):
    """A webhook that is not to be believed."""
