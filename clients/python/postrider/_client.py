"""The client: all parts of the API."""

from __future__ import annotations

from datetime import datetime

from ._calls import time_text
from ._decode import decode
from ._emails import Emails, Submissions
from ._managing import Stats
from ._models import Health
from ._options import DEFAULT_RETRIES, DEFAULT_TIMEOUT, read_options
from ._resources import Domains, Events, Suppressions, Templates, Webhooks
from ._transport import Transport


class Postrider:
    """The API with one key. Threads can share a client.

    :param api_key: otherwise the variable POSTRIDER_API_KEY
    :param base_url: otherwise the variable POSTRIDER_BASE_URL
    :param max_retries: after network failures, 429 and 5xx; 0 for none
    :param timeout: seconds for each attempt
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        max_retries: int = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        options = read_options(api_key, base_url, max_retries, timeout)
        self._shown = f"{options.host}:{options.port}{options.path}"
        self._transport = Transport(options)
        self.emails = Emails(self._transport)
        self.submissions = Submissions(self._transport)
        self.domains = Domains(self._transport)
        self.webhooks = Webhooks(self._transport)
        self.templates = Templates(self._transport)
        self.events = Events(self._transport)
        self.suppressions = Suppressions(self._transport)

    def __repr__(self) -> str:
        return f"<Postrider at {self._shown}>"

    def stats(
        self,
        *,
        from_: str | datetime | None = None,
        to: str | datetime | None = None,
        by: str | None = None,
        tag: str | None = None,
    ) -> Stats:
        """Counts what happened from ``from_`` to before ``to``.

        :param by: the length of a step, ``hour`` or ``day`` (UTC)
        :param tag: only messages with this tag, ``name:value``
        """
        query = {
            "from": time_text("from_", from_),
            "to": time_text("to", to),
            "by": by,
            "tag": tag,
        }
        answer = self._transport.call("GET", "/stats", query=query)
        return decode(Stats, answer)

    def health(self) -> Health:
        """Whether the service reaches its database; never raises for that."""
        answer = self._transport.call("GET", "/healthz", is_health=True)
        return decode(Health, answer)
