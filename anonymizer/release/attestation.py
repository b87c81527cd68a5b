"""The separate certificate of a release: an in-toto Statement of its manifest.

Subjects are the published tables, with the digests of their rows in the seal, and the manifest
itself. The predicate says what was required and achieved. It contains no values and no rows.
https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from anonymizer.contract.checks import turns
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.privacy.of_policy.registry import GUARANTEES
from anonymizer.process.text import plain
from anonymizer.release.dsse import once
from anonymizer.release.manifest import Manifest
from anonymizer.release.seal import seal_of

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:sql-anonymizer:certificate:1"
DIGEST = "sha256"
"""Digest of the manifest as canonical JSON (`release/seal`), and of the policy's content."""
LISTS_VALUES = frozenset(name for guarantee in GUARANTEES for name in guarantee.values)
OTHER = "it is of another release, or one of the two was changed"


def statement(manifest: Manifest) -> dict[str, Any]:
    """The statement about a sealed release."""
    data = manifest.data
    made = {
        "_type": STATEMENT,
        "subject": list(_subjects(manifest)),
        "predicateType": PREDICATE,
        "predicate": {
            "release": {
                "view": data["view"],
                "runId": data["run_id"],
                "created": data["created"],
                "kind": manifest.kind,
                "algorithm": data["algorithm"],
                "reproducible": data["reproducible"],
            },
            "policy": {"digest": {DIGEST: data["policy_digest"]}},
            "guarantees": list(_guarantees(data["verification"]["checks"])),
            "versions": data["versions"],
            "suppressedShare": data["measures"].get("suppressed_share"),
            "certificate": data["certificate"],
            "knownAttacks": data["known_attacks"],
        },
    }
    found: dict[str, Any] = json.loads(json.dumps(plain(made), allow_nan=False))
    return found


def payload(manifest: Manifest) -> bytes:
    """The statement as the bytes that are signed."""
    return json.dumps(statement(manifest), sort_keys=True, separators=(",", ":")).encode()


def _subjects(manifest: Manifest) -> Iterator[dict[str, Any]]:
    """The subjects; digests of tables are named by how they were made: engine, order, version."""
    seal = seal_of(manifest)
    for item in seal.objects:
        if item.rows is not None:
            name = f"{item.schema}.{item.name}"
            yield {"name": name, "digest": {item.rows.definition: item.rows.sha256}}
    yield {"name": f"{manifest.data['view']}_manifest", "digest": {DIGEST: seal.digest}}


def _guarantees(checks: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every guarantee; checks of form require nothing, and are left out."""
    for check in checks:
        if check["required"] != 0:
            yield {
                "name": check["name"],
                "column": check["column"],
                "required": _without_values(check["required"]),
                "achieved": _without_values(check["achieved"]),
                "passed": check["passed"],
            }


def _without_values(figure: Any) -> Any:
    if not isinstance(figure, Mapping):
        return figure
    return {name: value for name, value in figure.items() if name not in LISTS_VALUES}


def read(signed: bytes) -> dict[str, Any]:
    """Parse a signed statement.

    Raises GuaranteeError for a payload that is not such a certificate.
    """
    try:
        found = json.loads(signed, object_pairs_hook=once)
        kinds = found["_type"], found["predicateType"]
        view = found["predicate"]["release"]["view"]
    except (ValueError, KeyError, TypeError, RecursionError):
        found, kinds, view = {}, ("", ""), None
    if not isinstance(view, str):
        raise GuaranteeError(_problem("", "is signed, and states nothing of a release"))
    if kinds[0] != STATEMENT:
        raise GuaranteeError(_problem("_type", f"is not {STATEMENT}"))
    if kinds[1] != PREDICATE:
        raise GuaranteeError(_problem("predicateType", f"is not {PREDICATE}"))
    stated: dict[str, Any] = found
    return stated


def view_of(stated: Mapping[str, Any]) -> str:
    """The view of the release that a statement is about."""
    return str(stated["predicate"]["release"]["view"])


def refuse_other_release(stated: Mapping[str, Any], manifest: Manifest) -> None:
    """Raise GuaranteeError with everything in which a statement differs from the release."""
    expected = statement(manifest)
    problems = [*_other_subjects(stated, expected), *_other_predicate(stated, expected)]
    if not problems and stated != expected:
        problems = [_problem("", "states more than a certificate does")]
    GuaranteeError.refuse(problems)


def _other_subjects(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        listed = {one["name"]: one["digest"] for one in stated["subject"]}
        twice = len(listed) < len(stated["subject"])
    except (KeyError, TypeError):
        yield _problem("subject", "cannot be read")
        return
    found = {one["name"]: one["digest"] for one in expected["subject"]}
    if twice:
        yield _problem("subject", "names one table twice")
    for name in sorted({*listed, *found}, key=str):
        if name not in listed:
            yield _problem("subject", f"lacks {name}, which the release has")
        elif name not in found:
            yield _problem("subject", f"names {name}, which the release does not have")
        elif listed[name] != found[name]:
            yield _problem("subject", f"has another digest of {name} than the release")


def _other_predicate(stated: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Problem]:
    told, found = stated.get("predicate"), expected["predicate"]
    if not isinstance(told, Mapping):
        yield _problem("predicate", "cannot be read")
        return
    for name in sorted({*told, *found}):
        if name not in found:
            yield _problem(f"predicate.{name}", "is nothing that a certificate states")
        elif name not in told:
            yield _problem(f"predicate.{name}", "is missing")
        elif told[name] != found[name]:
            yield from _other_part(name, told[name], found[name])


def _other_part(name: str, told: Any, found: Any) -> Iterator[Problem]:
    if name == "guarantees":
        yield from _other_guarantees(told, found)
    elif isinstance(told, Mapping) and isinstance(found, Mapping):
        for key in sorted({*told, *found}):
            if told.get(key) != found.get(key):
                yield _problem(f"predicate.{name}.{key}", "is not that of the release")
    else:
        yield _problem(f"predicate.{name}", "is not that of the release")


def _other_guarantees(told: Any, found: Any) -> Iterator[Problem]:
    path = "predicate.guarantees"
    try:
        listed = _in_turn(told)
    except (KeyError, TypeError):
        yield _problem(path, "cannot be read")
        return
    has = _in_turn(found)
    for key in sorted({*listed, *has}, key=str):
        named = ".".join(str(part) for part in key[:2] if part is not None)
        if key not in listed:
            yield _problem(path, f"lack {named}, which the release keeps")
        elif key not in has:
            yield _problem(path, f"state {named}, which the release does not promise")
        else:
            for field in sorted({*listed[key], *has[key]}):
                if listed[key].get(field) != has[key].get(field):
                    said = "is not what the release has"
                    yield _problem(f"{path}.{named}.{field}", said)


def _in_turn(guarantees: Any) -> dict[Any, Any]:
    return dict(zip(turns((g["name"], g["column"]) for g in guarantees), guarantees, strict=True))


def _problem(path: str, said: str) -> Problem:
    return Problem(".".join(filter(None, ("certificate", path))), said, hint=OTHER)
