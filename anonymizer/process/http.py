"""Sending a JSON document to an address that the user gave. Nothing else reaches a network."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from anonymizer.errors import TargetError

SECONDS = 10.0
"""Longest wait for an answer."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The document goes to the address that was given, and to no other."""

    def redirect_request(self, *given: Any, **options: Any) -> None:
        return None


def post_json(address: str, text: str, option: str) -> int:
    """The status of an answer below 300. Raises TargetError for any other, or none.

    `option`: what gave the address. Neither the address nor the answer is repeated in an error:
    one may hold a password, the other anything.
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
    """Raises TargetError for what is no address to send to."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        allowed = "http://HOST/PATH, https://HOST/PATH"
        raise TargetError.at(option, "is not an address to send to", allowed=allowed)
