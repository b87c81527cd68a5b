"""Sends a JSON document to an address given by the user; nothing else is sent to a network."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from anonymizer.errors import TargetError

SECONDS = 10.0
"""Longest wait for a response."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, so that the document is only sent to the given address."""

    def redirect_request(self, *given: Any, **options: Any) -> None:
        return None


def post_json(address: str, text: str, option: str) -> int:
    """Send a document, and return a status below 300. Raises TargetError for any other, or none.

    `option`: the option that gave the address. Errors quote neither the address, which may contain
    a password, nor the response, which may contain anything.
    """
    check_address(address, option)
    request = urllib.request.Request(
        address,
        data=text.encode("utf-8"),
        headers={"Content-Type": "application/json", "User-Agent": "sql-anonymizer"},
        method="POST",
    )
    said = "did not answer"
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        said = f"answered with status {error.code}"
        error.close()
    except (OSError, http.client.HTTPException, ValueError):
        pass
    raise TargetError.at(option, said, hint="-o FILE writes it instead")


def check_address(address: str, option: str) -> None:
    """Raises TargetError if documents cannot be sent to the address."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        allowed = "http://HOST/PATH, https://HOST/PATH"
        raise TargetError.at(option, "is not an address to send to", allowed=allowed)
