"""The pages and HTTP calls of the desk, on this machine only."""

from __future__ import annotations

import hmac
import json
import secrets
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.compile.sql import folder
from anonymizer.errors import AnonymizerError, EngineError, PolicyError, Problem
from anonymizer.explore.choices import beginnings, flags, masks
from anonymizer.explore.counts_desk import CountsDesk
from anonymizer.explore.desk import Desk
from anonymizer.explore.edits import MASK, ROLES, edits_of
from anonymizer.explore.handover import Paper, evidence_fields
from anonymizer.explore.states import page_figures
from anonymizer.explore.tables_desk import TablesDesk
from anonymizer.policy import Policy
from anonymizer.policy.columns import MASKS
from anonymizer.process.interrupts import ENDING
from anonymizer.process.text import json_value
from anonymizer.review.approval import residual_risks
from anonymizer.review.lattice import without_hierarchy
from anonymizer.review.report.content import ROLES as ROLE_WORDS
from anonymizer.run.warnings import kept_despite_name, unprotected

# Access control: one host, one origin, one token; and the security headers of every answer.
#
# A page of another origin knows neither the port nor the token. A foreign host name that resolves
# to this machine arrives with another Host header. Refused requests reach no handler.


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
                given = list(message.get("headers", ()))
                names = {name for name, _ in given}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items()]
                more = [(name, value) for name, value in more if name not in names]
                message = {**message, "headers": [*given, *more]}
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


# The pages and HTTP calls of the desk.


def view(desk: AnyDesk) -> dict[str, Any]:
    """Everything about the current state."""
    if not isinstance(desk, Desk):
        return desk.view()
    with desk.lock:
        state = desk.history.now
        found: dict[str, Any] = json_value(
            {
                "version": desk.version,
                "title": desk.title,
                "file": desk.target.path.name,
                "saved": desk.saved,
                "handover": {
                    "reasons": desk.handover.reasons(state.policy, saved=desk.saved),
                    "papers": list(desk.handover.papers),
                    "standards": evidence_fields(state.policy),
                },
                "text": state.text,
                "show_rows": desk.show_rows,
                "roles": {n: ROLE_WORDS["masked" if n in MASKS else n] for n in ROLES},
                "masks": masks(),
                "flags": flags(dict(desk.whole.session.profile.own)),
                "algorithms": {n: d.words for n, d in BY_NAME.items()},
                "columns": list(_columns(desk, state.policy)),
                "table": _table(state.policy),
                "history": [{"number": s.number, "label": s.label} for s in desk.history.states],
                "at": state.number,
                "sample": _outcome(state.outcomes.get("sample")),
                "whole": _outcome(state.outcomes.get("whole")),
                "before": _outcome(_before(desk)),
                "is_sample": desk.sample.sampled,
                "rows": desk.whole.rows,
                "progress": desk.progress,
                "stopped": desk.stopped,
                "busy": desk.busy,
                "details": dict(state.details),
                "frontier": state.frontier,
                "why": state.why,
                "refused": state.refused,
                "defects": list(desk.defects),
            }
        )
        return found


def _outcome(outcome: Any) -> dict[str, Any] | None:
    return None if outcome is None else page_figures(outcome)


def _before(desk: Desk) -> Any:
    """The result for the previous state, on the same sample."""
    at = desk.history.at
    return desk.history.states[at - 1].outcomes.get("sample") if at > 0 else None


def _table(policy: Policy) -> dict[str, Any]:
    given = policy.to_dict()
    return {
        "k": policy.privacy.k_anonymity,
        "suppression_limit": policy.suppression_limit,
        "algorithm": given["algorithm"],
        "person": policy.person,
        "classless": policy.algorithm.classless,
        "unprotected": [*unprotected(policy), *kept_despite_name(policy)],
        "no_lattice": next((f"{p.path} {p.message}" for p in without_hierarchy(policy)), None),
        "ledger": policy.ledger is not None,
    }


def _columns(desk: Desk, policy: Policy) -> Iterator[dict[str, Any]]:
    """Every column of the source, including those that the policy does not classify."""
    given = policy.to_dict()["columns"]
    for name, sql_type in desk.whole.session.profile.own:
        described = given.get(name, {})
        drafted = desk.reasons.get(name, {})
        yield {
            "name": name,
            "type": sql_type,
            "role": described.get("role"),
            "hierarchy": described.get("hierarchy"),
            "protect": described.get("protect"),
            "when": described.get("sensitive_when"),
            "mask": {option: described.get(option) for option in MASK},
            "begin": beginnings(sql_type),
            "key": name in policy.owners,
            "drafted": drafted.get("role"),
            "reason": drafted.get("reason"),
        }


FOLDER = "explore"
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
MOST_BYTES = 200_000
"""Largest size of a request."""
LABEL = 80
"""Largest length of a change's name."""

AnyDesk: TypeAlias = Desk | TablesDesk | CountsDesk
Given = Mapping[str, Any]
Call = Callable[[Any, Given], Any]


def _change(desk: Desk | TablesDesk, given: Given) -> None:
    label = " ".join(str(given.get("label", "")).split())[:LABEL] or "change"
    desk.change(edits_of(given.get("edits")), label)


def _tree(desk: Desk, given: Given) -> Any:
    options = given.get("hierarchy")
    if not isinstance(options, dict):
        raise PolicyError.at("hierarchy", "must be a mapping")
    return desk.tree(str(given.get("column")), options)


CHANGES: dict[str, Call] = {
    "change": _change,
    "undo": lambda desk, given: desk.move(-1),
    "redo": lambda desk, given: desk.move(1),
    "stop": lambda desk, given: desk.stop(),
    "save": lambda desk, given: desk.save(),
}
"""Calls that change the desk; the answer is the whole content of the page."""
TRIES: dict[str, Call] = {"try": lambda desk, given: desk.change(given)}
"""Calls of a desk of counts."""
OF_TABLES = ("change", "save", "risks", "paper", "approve")
"""Calls of a desk of several tables."""
QUESTIONS: dict[str, Call] = {
    "compare": lambda desk, given: desk.compare(given.get("one"), given.get("other")),
    "hierarchies": lambda desk, given: desk.hierarchies(str(given.get("column"))),
    "tree": _tree,
    "rows": lambda desk, given: desk.rows(),
    "risks": lambda desk, given: residual_risks(desk.policy),
    "lattice": lambda desk, given: desk.lattice(),
    "paper": lambda desk, given: desk.paper(str(given.get("form")), given.get("standard")),
    "approve": lambda desk, given: desk.approve(given),
}


def _calls(desk: AnyDesk) -> dict[str, Call]:
    every = {**CHANGES, **QUESTIONS}
    if isinstance(desk, TablesDesk):
        return {name: every[name] for name in OF_TABLES}
    return every if isinstance(desk, Desk) else TRIES


def _answer(name: str, desk: AnyDesk, given: Given) -> Any:
    found = _calls(desk)[name](desk, given)
    return found if name in QUESTIONS else view(desk)


def application(desk: AnyDesk, host: str, token: str) -> App:
    """The desk behind its guard. `host`: the address and port that browsers use."""
    files = _files()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name") or desk.index
        if name not in files:
            return _json({"errors": []}, 404)
        kind, content = files[name]
        return Response(content, media_type=kind)

    async def paper(request: Request) -> Response:
        papers = {} if isinstance(desk, CountsDesk) else desk.handover.papers
        made = papers.get(request.path_params["name"])
        return _json({"errors": []}, 404) if made is None else _paper(made)

    async def state(request: Request) -> Response:
        return _json(await run_in_threadpool(view, desk))

    async def call(request: Request) -> Response:
        return await _called(desk, request)

    routes = [
        Route("/", file),
        Route("/static/{name}", file),
        Route("/papers/{name}", paper),
        Route("/api/state", state),
        Route("/api/{call}", call, methods=["POST"]),
    ]
    pages = Starlette(routes=routes)
    pages.router.redirect_slashes = False
    return Guard(pages, host, token)


async def _called(desk: AnyDesk, request: Request) -> Response:
    name = str(request.path_params["call"])
    if name not in _calls(desk):
        return _json({"errors": []}, 404)
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return _json({"errors": [Problem("request", "is too large").as_dict()]}, 413)
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return _json({"errors": [Problem("request", "is not an object of JSON").as_dict()]}, 400)
    try:
        return _json(await run_in_threadpool(_answer, name, desk, given))
    except AnonymizerError as error:
        return _json({"errors": [problem.as_dict() for problem in error.problems]}, 409)
    except Exception as error:
        # its message may quote a value
        said = f"a defect of the tool: {type(error).__name__}"
        return _json({"errors": [Problem("anonymizer", said).as_dict()]}, 500)


def _paper(made: Paper) -> Response:
    """A paper, in a sandbox: it runs nothing, and has no style but its own sheets."""
    styles = " ".join(f"'sha256-{one}'" for one in made.styles) or "'none'"
    rules = (
        *("default-src 'none'", f"style-src {styles}", "img-src data:", "base-uri 'none'"),
        *("form-action 'none'", "frame-ancestors 'none'", "sandbox"),
    )
    shown = "inline" if made.styles else "attachment"
    headers = {
        "content-security-policy": "; ".join(rules),
        "content-disposition": f'{shown}; filename="{made.name}"',
    }
    return Response(made.content, media_type=made.media, headers=headers)


def _json(data: Any, status: int = 200) -> Response:
    text = json.dumps(json_value(data), allow_nan=False)
    return Response(text, status_code=status, media_type="application/json")


def _files() -> dict[str, tuple[str, bytes]]:
    """The page's files by name, read once so that no request accesses the disk."""
    return {
        path.name: (TYPES[path.suffix], path.read_bytes())
        for path in (folder("templates") / FOLDER).iterdir()
        if path.suffix in TYPES
    }


# The server: on this machine only, on a random port, until Ctrl-C.


ADDRESS = "127.0.0.1"
TOKEN_BYTES = 32


def missing() -> str | None:
    """The name of a library that the page needs and that is not installed."""
    from importlib.util import find_spec

    return next((name for name in ("starlette", "uvicorn") if find_spec(name) is None), None)


def refuse_without_extra() -> None:
    """Raises EngineError if the libraries of the page are not installed."""
    lacking = missing()
    if lacking is not None:
        hint = "python -m pip install 'sql-anonymizer[explore]'"
        raise EngineError.at("explore", f"needs {lacking}, which is not there", hint=hint)


def serve(desk: AnyDesk, ready: Callable[[str, Any], None]) -> None:
    """Serve the desk until it is stopped. `ready` receives the address, and the server to stop."""
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind((ADDRESS, 0))
        listening.listen()
        host = f"{ADDRESS}:{listening.getsockname()[1]}"
        token = secrets.token_urlsafe(TOKEN_BYTES)
        config = uvicorn.Config(
            application(desk, host, token),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        server.capture_signals = lambda: _ending(server)
        ready(f"http://{host}/{token}/", server)
        try:
            server.run(sockets=[listening])
        finally:
            desk.close()


@contextmanager
def _ending(server: Any) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal end the server normally."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in found.items() if handler != signal.SIG_IGN}
    for number in before:
        signal.signal(number, server.handle_exit)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
