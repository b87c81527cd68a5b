"""A certificate with its release and its key, altered in every way we could think of: each is told.

The alterations that only the owner of the key can make (a certificate of another release, or one
that says more) are signed with that key.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, GuaranteeError
from anonymizer.release.manifest import Manifest
from anonymizer.release.signing import (
    PAYLOAD,
    encoded,
    new_key,
    private_key,
    refuse_other_release,
    signed,
)
from tests import runs
from tests.forging import COLUMNS, ROWS, TYPES, VIEW, seal_again
from tests.selection import some


@dataclass(frozen=True, slots=True)
class Place:
    """A release, its certificate, and the keys."""

    folder: Path
    policy: Policy

    @property
    def release(self) -> Path:
        return self.folder / "release.duckdb"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.json"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem.pub"

    def verify(self, policy: Policy | None = None) -> Any:
        return anonymizer.verify(
            policy, self.release, certificate=self.certificate, public_key=self.key
        )

    def statement(self) -> dict[str, Any]:
        envelope = json.loads(self.certificate.read_text())
        found: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
        return found

    def sign(self, statement: Any, key: str = "key.pem") -> None:
        payload = json.dumps(statement).encode()
        text = signed(PAYLOAD, payload, private_key(self.folder / key))
        self.certificate.write_text(text)

    def sql(self, *statements: str) -> None:
        with duckdb.connect(str(self.release)) as connection:
            found = connection.execute(
                "select object_name from _anonymizer.objects where kind = 'rows'"
            ).fetchall()
            for text in statements:
                connection.execute(text.replace("{rows}", f'"{found[0][0]}"'))


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("release")
    database = runs.source(folder, TYPES, ROWS)
    new_key(folder / "key.pem")
    new_key(folder / "other.pem")
    policy = runs.policy(folder, COLUMNS, k=3)
    runs.run(policy, database)
    place = Place(folder, policy)
    place.certificate.write_text(anonymizer.certify(policy, sign=folder / "key.pem"))
    return place


@pytest.fixture
def altered(correct: Place, tmp_path: Path) -> Place:
    """A copy of everything, to be altered."""
    for path in correct.folder.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    return Place(tmp_path, correct.policy)


def envelope(change: Callable[[dict[str, Any]], object]) -> Callable[[Place], None]:
    def alter(place: Place) -> None:
        data = json.loads(place.certificate.read_text())
        change(data)
        place.certificate.write_text(json.dumps(data))

    return alter


def statement(change: Callable[[dict[str, Any]], object]) -> Callable[[Place], None]:
    """Changed and signed by the owner of the key."""

    def alter(place: Place) -> None:
        data = place.statement()
        change(data)
        place.sign(data)

    return alter


def text(change: Callable[[str], str]) -> Callable[[Place], None]:
    def alter(place: Place) -> None:
        place.certificate.write_text(change(place.certificate.read_text()))

    return alter


def sql(*statements: str) -> Callable[[Place], None]:
    return lambda place: place.sql(*statements)


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        within: Any = data
        for step in path[:-1]:
            within = within[step]
        within[path[-1]] = value

    return change


def take(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        within: Any = data
        for step in path[:-1]:
            within = within[step]
        del within[path[-1]]

    return change


def better_payload(data: dict[str, Any]) -> None:
    stated = base64.b64decode(data["payload"]).replace(b'"achieved":', b'"achieved":9')
    data["payload"] = base64.b64encode(stated).decode()


def resealed(place: Place) -> None:
    """What keeps every guarantee and every figure, with a seal of its own."""
    place.sql("update {rows} set visits = 6 - visits")
    seal_again(place.release, VIEW)


def bare_signature(place: Place) -> None:
    """A signature over the payload without its type."""
    data = json.loads(place.certificate.read_text())
    key = private_key(place.folder / "key.pem")
    made = key.sign(base64.b64decode(data["payload"]))
    data["signatures"][0]["sig"] = base64.b64encode(made).decode()
    data["signatures"][0].pop("keyid")
    place.certificate.write_text(json.dumps(data))


def twice(data: dict[str, Any]) -> None:
    data["subject"].append(data["subject"][0])


def guarantee(change: Callable[[Any], object]) -> Callable[[dict[str, Any]], object]:
    return lambda data: change(data["predicate"]["guarantees"])


# name: what is altered, and what the message says; no two say the same
ALTERATIONS: dict[str, tuple[Callable[[Place], object], str]] = {
    # the certificate, by anybody
    "no JSON": (text(lambda _: "a certificate"), "certificate: is not JSON"),
    "cut off": (text(lambda t: t[:200]), "certificate: is not JSON"),
    "a field twice": (
        text(lambda t: t.replace("{", '{"payloadType": "text/plain",', 1)),
        "certificate: has a field twice",
    ),
    "no envelope": (
        lambda p: shutil.copy(p.folder / f"{VIEW}.manifest.json", p.certificate),
        "certificate: is not a DSSE envelope",
    ),
    "another type": (
        envelope(put("payloadType", value="application/json")),
        "certificate: holds a payload of another type",
    ),
    "a payload that is none": (
        envelope(put("payload", value="%%%")),
        "certificate: has a payload that is not in base64",
    ),
    "a better payload": (
        envelope(better_payload),
        "certificate: has a signature that is not of this key over its payload",
    ),
    "no signature": (envelope(put("signatures", value=[])), "certificate: is not signed"),
    "half a signature": (
        envelope(put("signatures", 0, "sig", value="AAAA")),
        "certificate: has a signature that is cut off",
    ),
    "another signer": (
        lambda p: p.sign(p.statement(), "other.pem"),
        "certificate: is signed by another key",
    ),
    # the certificate, signed again by the owner of the key
    "another statement": (
        statement(put("_type", value="https://in-toto.io/Statement/v0.1")),
        "certificate._type: is not https://in-toto.io/Statement/v1",
    ),
    "another predicate": (
        statement(put("predicateType", value="https://slsa.dev/provenance/v1")),
        "certificate.predicateType: is not urn:",
    ),
    "no statement": (lambda p: p.sign([1]), "certificate: is signed, and states nothing"),
    "a table less": (
        statement(take("subject", 0)),
        "certificate.subject.main._people_anonymous",
    ),
    "a table more": (
        statement(lambda d: d["subject"].append({"name": "main.more", "digest": {"x": "0"}})),
        "certificate.subject.main.more: is nothing that a certificate states",
    ),
    "a table twice": (statement(twice), "certificate: states more than a certificate does"),
    "no tables": (
        statement(put("subject", value=3)),
        "certificate.subject: is not that of the release",
    ),
    "other rows": (
        statement(put("subject", 0, "digest", value={"duckdb-stored-2": "0" * 64})),
        "duckdb-stored-2: is not that of the release",
    ),
    "another manifest": (
        statement(put("subject", 1, "digest", "sha256", value="0" * 64)),
        "certificate.subject.main.people_anonymous_manifest.sha256: is not that",
    ),
    "another policy": (
        statement(put("predicate", "policy", "digest", "sha256", value="0" * 64)),
        "certificate.predicate.policy.digest.sha256: is not that of the release",
    ),
    "a larger k required": (
        statement(guarantee(put(0, "required", value=10))),
        "certificate.predicate.guarantees.k_anonymity.required",
    ),
    "a larger k achieved": (
        statement(guarantee(put(0, "achieved", value=100))),
        "certificate.predicate.guarantees.k_anonymity.achieved",
    ),
    "a rule less": (
        statement(guarantee(lambda listed: listed.pop())),
        "certificate.predicate.guarantees.distinct_l.illness: is missing",
    ),
    "a rule more": (
        statement(guarantee(lambda listed: listed.append({"name": "t_closeness", "column": None}))),
        "certificate.predicate.guarantees.t_closeness: is nothing that a certificate states",
    ),
    "other versions": (
        statement(put("predicate", "versions", "anonymizer", value="9")),
        "certificate.predicate.versions.anonymizer",
    ),
    "another run": (
        statement(put("predicate", "release", "runId", value="0" * 16)),
        "certificate.predicate.release.runId",
    ),
    "another kind": (
        statement(put("predicate", "release", "kind", value="pseudonymised")),
        "certificate.predicate.release.kind",
    ),
    "no attacks": (
        statement(put("predicate", "knownAttacks", value=[])),
        "certificate.predicate.knownAttacks: is not that of the release",
    ),
    "no versions": (
        statement(take("predicate", "versions")),
        "certificate.predicate.versions: is missing",
    ),
    "a claim more": (
        statement(put("predicate", "approved", value=True)),
        "certificate.predicate.approved: is nothing that a certificate states",
    ),
    "a field more": (
        statement(put("expires", value="never")),
        "certificate: states more than a certificate does",
    ),
    "a view of another name": (
        statement(put("predicate", "release", "view", value="main.else")),
        "certificate: is of main.else, and there is no release of this name",
    ),
    # the release
    "one value": (
        sql("update {rows} set illness = 'v9' where rowid = 7"),
        "values or their order changed",
    ),
    "a row less": (sql("delete from {rows} where rowid = 0"), "there are 119, and 120 were"),
    "a table beside": (sql("create table raw as select 1 as age"), "holds the table raw"),
    "another view": (
        sql(f"create or replace view {VIEW} as from {{rows}} limit 9"),
        "is not the view that a run makes",
    ),
    "a field of the manifest": (
        # (one that can be any number)
        sql(f"update {VIEW}_manifest set manifest = replace(manifest, 'ing\": ', 'ing\": 1')"),
        "its digest is not that of its content",
    ),
    "no manifest": (sql(f"drop table {VIEW}_manifest"), "manifest"),
    "rows sealed again": (resealed, "duckdb-stored-2: is not that of the release"),
    "no release": (lambda p: p.release.unlink(), "database: there is no file"),
    # the key
    "another key": (
        lambda p: shutil.copy(p.folder / "other.pem.pub", p.key),
        "certificate: is signed by another key",
    ),
    "a file without a key": (
        lambda p: p.key.write_text("key"),
        "public_key: key.pem.pub holds no Ed25519 public key",
    ),
    "a private key": (
        lambda p: shutil.copy(p.folder / "key.pem", p.key),
        "public_key: key.pem.pub holds no Ed25519 public key",
    ),
    "no key": (lambda p: p.key.unlink(), "public_key: there is no file"),
}
ALIKE = {"cut off", "a table twice", "rows sealed again", "another key", "a private key"}
"""What is told in the words of another alteration, of which it is a kind."""


def test_there_are_many_and_each_has_its_own_message() -> None:
    own = [says for name, (_, says) in ALTERATIONS.items() if name not in ALIKE]
    assert len(own) == len(set(own)) >= 20
    for says in own:
        assert [other for other in own if says in other] == [says] or says == "manifest"


@pytest.mark.slow
def test_unaltered_it_is_of_the_release(correct: Place) -> None:
    for policy in (None, correct.policy):
        found = correct.verify(policy)
        assert found.passed
        assert found.origin == "signature"


@some(6)
@pytest.mark.parametrize("name", ALTERATIONS)
def test_an_alteration(altered: Place, name: str) -> None:
    alter, says = ALTERATIONS[name]
    alter(altered)
    with pytest.raises(AnonymizerError) as told:
        altered.verify()
    said = str(told.value)
    assert says in said
    # the rows have values; no message repeats one
    assert not re.search(r"(?<!/)\bv[0-9]\b", said)


def test_a_signature_over_the_bare_payload(altered: Place) -> None:
    bare_signature(altered)
    with pytest.raises(GuaranteeError, match="not of this key over its payload"):
        altered.verify()


def test_the_signature_of_a_manifest_serves_no_certificate(altered: Place) -> None:
    """What is signed of a manifest never begins as what is signed of an envelope."""
    from anonymizer.release.signing import message

    assert not message("0" * 64).startswith(encoded(PAYLOAD, b"")[:7])


def test_every_field_of_the_statement_one_by_one(correct: Place) -> None:
    """Nothing that a certificate states is free."""
    with duckdb.connect(str(correct.release), read_only=True) as connection:
        text = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()[0][0]
    manifest, stated = Manifest(json.loads(text)), correct.statement()
    refuse_other_release(stated, manifest)
    places = leaves(stated)
    assert len(places) > 25
    for path in places:
        data = json.loads(json.dumps(stated))
        within: Any = data
        for step in path[:-1]:
            within = within[step]
        value = within[path[-1]]
        within[path[-1]] = (not value) if isinstance(value, bool) else f"{value}x"
        with pytest.raises(GuaranteeError, match="certificate"):
            refuse_other_release(data, manifest)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, (*path, key))]
    if isinstance(data, list):
        return [leaf for at, value in enumerate(data) for leaf in leaves(value, (*path, at))]
    return [path]


def test_a_certificate_without_a_key_is_refused(correct: Place) -> None:
    with pytest.raises(AnonymizerError, match="without the key of its owner"):
        anonymizer.verify(None, correct.release, certificate=correct.certificate)


def test_nothing_is_certified_that_does_not_hold(altered: Place) -> None:
    altered.sql("update {rows} set illness = 'v0'")
    with pytest.raises(GuaranteeError):
        anonymizer.certify(altered.policy, altered.release, sign=altered.folder / "key.pem")


def test_another_reader_of_envelopes_finds_the_same(correct: Place) -> None:
    """By the specification alone: PAE, Ed25519, and the key id as the digest of its DER."""
    import hashlib

    from cryptography.hazmat.primitives import serialization

    data = json.loads(correct.certificate.read_text())
    payload = base64.b64decode(data["payload"])
    kind = data["payloadType"]
    pae = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    key = serialization.load_pem_public_key(correct.key.read_bytes())
    (one,) = data["signatures"]
    key.verify(base64.b64decode(one["sig"]), pae)  # type: ignore[union-attr, call-arg]
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert one["keyid"] == hashlib.sha256(der).hexdigest()
    stated = json.loads(payload)
    assert stated["_type"] == "https://in-toto.io/Statement/v1"
    assert stated["predicate"]["policy"]["digest"]["sha256"] == correct.policy.digest()
    with duckdb.connect(str(correct.release), read_only=True) as connection:
        text = connection.execute(f"select manifest from {VIEW}_manifest").fetchall()[0][0]
    manifest = json.loads(text)
    assert stated["subject"][1]["digest"]["sha256"] == manifest["seal"]["digest"]
