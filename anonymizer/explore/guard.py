"""Access control: one host, one origin, one token; and the security headers of every answer.

A page of another origin knows neither the port nor the token. A foreign host name that resolves to
this machine arrives with another Host header. Refused requests reach no handler.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""Only the page's own scripts, nothing from other origins, no markup created from text."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
WITHIN = ("same-origin", "none")
"""Accepted origins of a request, as sent by the browser: the page itself, or the user."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Passes on permitted requests, without the token in the path; refuses all others alike."""

    app: App
    host: str
    """As in the browser's Host header: 127.0.0.1 and the port."""
    token: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # there are no sockets, and no startup work

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        rest = self._rest(str(scope["path"]))
        if rest is None or not self._welcome(scope):
            await _refuse(with_headers)
            return
        await self.app({**scope, "path": rest, "raw_path": rest.encode()}, receive, with_headers)

    def _rest(self, path: str) -> str | None:
        """The path after the token; None without the token."""
        _, _, after = path.partition("/")
        given, slash, rest = after.partition("/")
        known = hmac.compare_digest(given.encode(), self.token.encode())
        return f"/{rest}" if known and slash else None

    def _welcome(self, scope: Scope) -> bool:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        origins = given.get("origin", [])
        sites = given.get("sec-fetch-site", [])
        if given.get("host") != [self.host]:
            return False
        if any(origin != f"http://{self.host}" for origin in origins):
            return False
        if any(site not in WITHIN for site in sites):
            return False
        if scope["method"] == "GET":
            return True
        # a form on another page can neither send JSON nor hide its origin
        kinds = [kind.split(";")[0].strip() for kind in given.get("content-type", [])]
        return scope["method"] == "POST" and bool(origins) and kinds == ["application/json"]


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": b"Use the address that was printed.\n"})
