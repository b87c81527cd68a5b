"""The pages and HTTP calls of the desk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anonymizer.algorithms.registry import ALGORITHMS
from anonymizer.compile.environment import folder
from anonymizer.errors import AnonymizerError, PolicyError, Problem
from anonymizer.explore.desk import Desk
from anonymizer.explore.edits import ROLES, edits_of
from anonymizer.explore.guard import App, Guard
from anonymizer.policy import Policy
from anonymizer.process.text import plain
from anonymizer.review.report.words import ROLES as ROLE_WORDS


def view(desk: Desk) -> dict[str, Any]:
    """Everything about the current state."""
    with desk.lock:
        state = desk.history.now
        found: dict[str, Any] = plain(
            {
                "version": desk.version,
                "title": desk.title,
                "file": desk.target.path.name,
                "saved": desk.target.found == state.text,
                "text": state.text,
                "show_rows": desk.show_rows,
                "roles": {name: ROLE_WORDS[name] for name in ROLES},
                "algorithms": {n: d.words for n, d in ALGORITHMS.items()},
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
                "defects": list(desk.defects),
            }
        )
        return found


def _outcome(outcome: Any) -> dict[str, Any] | None:
    return None if outcome is None else outcome.as_dict()


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
        "ledger": policy.ledger is not None,
    }


def _columns(desk: Desk, policy: Policy) -> Iterator[dict[str, Any]]:
    """Every column of the source, including those that the policy does not classify."""
    given = policy.to_dict()["columns"]
    for name, sql_type in desk.whole.session.profile.columns:
        described = given.get(name, {})
        drafted = desk.reasons.get(name, {})
        yield {
            "name": name,
            "type": sql_type,
            "role": described.get("role"),
            "hierarchy": described.get("hierarchy"),
            "protect": described.get("protect"),
            "semi": described.get("sensitive_when") is not None,
            "key": name in (policy.key, policy.person),
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

Given = Mapping[str, Any]
Call = Callable[[Desk, Given], Any]


def _change(desk: Desk, given: Given) -> None:
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
QUESTIONS: dict[str, Call] = {
    "compare": lambda desk, given: desk.compare(given.get("one"), given.get("other")),
    "hierarchies": lambda desk, given: desk.hierarchies(str(given.get("column"))),
    "tree": _tree,
    "rows": lambda desk, given: desk.rows(),
}


def _answer(name: str, desk: Desk, given: Given) -> Any:
    if name in QUESTIONS:
        return QUESTIONS[name](desk, given)
    CHANGES[name](desk, given)
    return view(desk)


def application(desk: Desk, host: str, token: str) -> App:
    """The desk behind its guard. `host`: the address and port that browsers use."""
    files = _files()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name") or "index.html"
        if name not in files:
            return _json({"errors": []}, 404)
        kind, content = files[name]
        return Response(content, media_type=kind)

    async def state(request: Request) -> Response:
        return _json(await run_in_threadpool(view, desk))

    async def call(request: Request) -> Response:
        return await _called(desk, request)

    routes = [
        Route("/", file),
        Route("/static/{name}", file),
        Route("/api/state", state),
        Route("/api/{call}", call, methods=["POST"]),
    ]
    pages = Starlette(routes=routes)
    pages.router.redirect_slashes = False
    return Guard(pages, host, token)


async def _called(desk: Desk, request: Request) -> Response:
    name = str(request.path_params["call"])
    if name not in CHANGES and name not in QUESTIONS:
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


def _json(data: Any, status: int = 200) -> Response:
    text = json.dumps(plain(data), allow_nan=False)
    return Response(text, status_code=status, media_type="application/json")


def _files() -> dict[str, tuple[str, bytes]]:
    """The page's files by name, read once so that no request accesses the disk."""
    return {
        path.name: (TYPES[path.suffix], path.read_bytes())
        for path in (folder("templates") / FOLDER).iterdir()
        if path.suffix in TYPES
    }
