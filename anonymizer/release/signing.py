"""Signatures over a manifest's digest, and certificates as DSSE envelopes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from anonymizer.contract.checks import turns
from anonymizer.errors import (
    EngineError,
    GuaranteeError,
    NothingToCheckError,
    PolicyError,
    Problem,
    no_file,
)
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.process.files import is_open_to_others, write_new, write_text
from anonymizer.process.text import json_value
from anonymizer.release.integrity import Sign, manifest_digest, seal_of
from anonymizer.release.manifest import Manifest, signature_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )


# Signatures over a manifest's digest: Ed25519, with keys in PEM files. The library is optional.


PURPOSE = "sql-anonymizer manifest 1 sha256:"
"""Prefix of the digest in the signed message, so that a signature is valid for nothing else."""


def signer(path: str | Path) -> Sign:
    """A signing function with the private key in a PEM file that only its owner may read."""
    key = private_key(path)

    def sign(digest: str) -> str:
        return base64.b64encode(key.sign(message(digest))).decode()

    return sign


def message(digest: str) -> bytes:
    """The message that is signed for a manifest."""
    return f"{PURPOSE}{digest}".encode()


def refuse_unsigned(manifest: Manifest, path: str | Path) -> None:
    """Raise GuaranteeError unless the owner of a public key has signed this manifest."""
    key = public_key(path)
    from cryptography.exceptions import InvalidSignature

    said = None
    if manifest.signature is None:
        said = "is not signed, or its signature was taken out"
    elif seal_of(manifest).digest != manifest_digest(manifest.data):
        said = "its digest is not that of its content: a field changed"
    else:
        try:
            key.verify(base64.b64decode(manifest.signature), message(seal_of(manifest).digest))
        except (InvalidSignature, ValueError):
            said = "its signature is not that of this key over this content"
    if said is not None:
        raise GuaranteeError.at("manifest", said, hint="ask who published it")


EXPORTED = "sql-anonymizer export 1 sha256:"
"""The same for the manifest of exported files, whose digests it states."""


def sign_export(manifest: Path, key: Ed25519PrivateKey | None) -> None:
    """Sign the manifest of an export beside it; without a key, an earlier signature goes."""
    beside = signature_file(manifest)
    if key is None:
        beside.unlink(missing_ok=True)
        return
    signature = key.sign(_message_of_export(manifest))
    write_text(str(beside), base64.b64encode(signature).decode() + "\n")


def refuse_unsigned_export(manifest: Path, path: str | Path) -> None:
    """Raise GuaranteeError unless the owner of a key has signed the manifest of an export."""
    key = public_key(path)
    from cryptography.exceptions import InvalidSignature

    beside = signature_file(manifest)
    if not manifest.is_file():
        raise NothingToCheckError.at("manifest", no_file(manifest.name))
    if not beside.is_file():
        said = f"is not signed: there is no file {beside.name}"
        raise GuaranteeError.at("manifest", said, hint="anonymizer export --sign KEYFILE")
    try:
        key.verify(base64.b64decode(beside.read_bytes()), _message_of_export(manifest))
    except (InvalidSignature, ValueError) as error:
        said = "its signature is not that of this key over this content"
        raise GuaranteeError.at("manifest", said, hint="ask who published it") from error


def _message_of_export(manifest: Path) -> bytes:
    return f"{EXPORTED}{hashlib.sha256(manifest.read_bytes()).hexdigest()}".encode()


def private_key(path: str | Path) -> Ed25519PrivateKey:
    """The private key of a PEM file that only its owner may read."""
    where, path = "--sign", Path(path)
    text = _read(path, where)
    serialization, ed25519 = _library(where)
    try:
        key = serialization.load_pem_private_key(text, password=None)
    except (TypeError, ValueError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        said = f"{path.name} holds no Ed25519 private key without a password"
        raise PolicyError.at(where, said, hint="anonymizer key new FILE")
    if is_open_to_others(path):
        said = f"{path.name} can be read by others than its owner"
        raise PolicyError.at(where, said, hint=f"chmod 600 {path}")
    return cast("Ed25519PrivateKey", key)


def public_key(path: str | Path) -> Ed25519PublicKey:
    """The public key of a PEM file."""
    where, path = "--public-key", Path(path)
    text = _read(path, where)
    serialization, ed25519 = _library(where)
    try:
        key = serialization.load_pem_public_key(text)
    except (TypeError, ValueError):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        said = f"{path.name} holds no Ed25519 public key"
        raise PolicyError.at(where, said, hint="the file with -----BEGIN PUBLIC KEY-----")
    return cast("Ed25519PublicKey", key)


def key_id(key: Ed25519PublicKey) -> str:
    """The id of a key: the SHA-256 (hex) of its SubjectPublicKeyInfo (DER)."""
    serialization, _ = _library("--public-key")
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(der).hexdigest()


def new_key(path: Path) -> Path:
    """Write a private key and, as `<path>.pub`, its public key. Overwrites nothing."""
    serialization, ed25519 = _library("anonymizer key new")
    public = path.with_name(f"{path.name}.pub")
    for file in (path, public):
        if file.exists():
            said = f"{file.name} exists, and what it signed could no longer be verified"
            raise PolicyError.at("FILE", said, hint="name another file")
    if not path.parent.is_dir():
        hint = f"mkdir -p {path.parent}"
        raise PolicyError.at("FILE", "is in a folder that does not exist", hint=hint)
    key = ed25519.Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM
    private_text = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_text = key.public_key().public_bytes(
        pem, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    try:
        write_new(path, private_text)
        try:
            write_new(public, public_text, mode=0o666)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    except OSError as error:
        said = f"{path.name} and {public.name} cannot be written"
        hint = "look at free disk space and permissions"
        raise EngineError.at("FILE", said, hint=hint) from error
    return public


def _read(path: Path, where: str) -> bytes:
    if not path.is_file():
        raise PolicyError.at(where, no_file(path), hint="anonymizer key new FILE")
    return path.read_bytes()


def _library(where: str) -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        said = "needs the library cryptography"
        raise EngineError.at(where, said, hint='pip install "sql-anonymizer[sign]"') from error
    return serialization, ed25519


# DSSE envelopes (Dead Simple Signing Envelope, version 1) with Ed25519 signatures.
#
# The signature is over the payload's pre-authentication encoding, which names its type, so that it
# is valid for no other kind of message. https://github.com/secure-systems-lab/dsse


SIGNATURE_BYTES = 64
FIELDS = {"payloadType", "payload", "signatures"}
ASK = "ask who signed it"


def encoded(kind: str, payload: bytes) -> bytes:
    """The pre-authentication encoding (PAE) of a payload and its type."""
    name = kind.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(payload), payload)


def signed(kind: str, payload: bytes, key: Ed25519PrivateKey) -> str:
    """A signed envelope as JSON text."""
    signature = {
        "keyid": key_id(key.public_key()),
        "sig": base64.b64encode(key.sign(encoded(kind, payload))).decode(),
    }
    envelope = {
        "payloadType": kind,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [signature],
    }
    return json.dumps(envelope, indent=2) + "\n"


def signed_payload(text: bytes, kind: str, key: Ed25519PublicKey) -> bytes:
    """The payload of an envelope that the owner of a key has signed.

    Raises NothingToCheckError if the text is not an envelope, and GuaranteeError if it is not
    signed by this key over this payload and type.
    """
    envelope = _envelope(text)
    if envelope["payloadType"] != kind:
        _refuse(f"holds a payload of another type than {kind}")
    payload = _base64(envelope["payload"])
    if payload is None:
        _refuse("has a payload that is not in base64")
    listed = envelope["signatures"]
    if not listed:
        _refuse("is not signed, or its signature was taken out")
    own = key_id(key)
    ours = [one for one in listed if one.get("keyid", own) in (own, "")]
    if not ours:
        others = ", ".join(str(one["keyid"])[:16] for one in listed)
        _refuse(f"is signed by another key: {others}, and the public key is {own[:16]}")
    if not _signed_by(key, encoded(kind, payload), ours):
        _refuse("has a signature that is not of this key over its payload: one of them changed")
    return payload


def _signed_by(key: Ed25519PublicKey, message: bytes, listed: Iterable[dict[str, Any]]) -> bool:
    from cryptography.exceptions import InvalidSignature

    for one in listed:
        signature = _base64(one.get("sig"))
        if signature is None or len(signature) != SIGNATURE_BYTES:
            _refuse("has a signature that is cut off, or none of Ed25519")
        try:
            key.verify(signature, message)
        except InvalidSignature:
            continue
        return True
    return False


def _envelope(text: bytes) -> dict[str, Any]:
    said = "is not JSON"
    try:
        found = json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except TwiceError:
        found, said = None, "has a field twice, of which readers could choose either"
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise NothingToCheckError.at("certificate", said, hint=ASK)
    signatures = found.get("signatures")
    listed = isinstance(signatures, list) and all(isinstance(one, dict) for one in signatures)
    if set(found) != FIELDS or not listed:
        raise NothingToCheckError.at("certificate", "is not a DSSE envelope", hint=ASK)
    return found


class TwiceError(ValueError):
    """A JSON object has the same field twice."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object from its fields. Raises TwiceError if a field occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError
    return found


def _base64(text: object) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except ValueError:
        return None


def _refuse(said: str) -> NoReturn:
    raise GuaranteeError.at("certificate", said, hint=ASK)


# The separate certificate of a release: an in-toto Statement of its manifest.
#
# Subjects are the published tables, with the digests of their rows in the seal, and the manifest
# itself. The predicate says what was required and achieved. It contains no values and no rows.
# https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md


PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:sql-anonymizer:certificate:1"
DIGEST = "sha256"
"""Digest of the manifest as canonical JSON (`release.integrity`), and of the policy's content."""
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
    found: dict[str, Any] = json.loads(json.dumps(json_value(made), allow_nan=False))
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


def refuse_other_release(stated: Mapping[str, Any], manifest: Manifest) -> None:
    """Raise GuaranteeError with everything in which a statement differs from the release."""
    expected = statement(manifest)
    problems = [*_differences("", _by_name(stated), _by_name(expected))]
    if not problems and stated != expected:
        problems = [_problem("", "states more than a certificate does")]
    GuaranteeError.refuse(problems)


def _by_name(stated: Mapping[str, Any]) -> dict[str, Any]:
    """A statement whose lists of tables and guarantees are mappings, by what each is of."""
    found = {name: stated.get(name) for name in ("subject", "predicate")}
    with suppress(KeyError, TypeError):
        found["subject"] = {one["name"]: one["digest"] for one in stated["subject"]}
    with suppress(KeyError, TypeError):
        listed = stated["predicate"]["guarantees"]
        keys = turns((one["name"], one["column"]) for one in listed)
        named = (".".join(str(part) for part in key if part) for key in keys)
        guarantees = dict(zip(named, listed, strict=True))
        found["predicate"] = {**stated["predicate"], "guarantees": guarantees}
    return found


def _differences(path: str, told: Any, found: Any) -> Iterator[Problem]:
    if not isinstance(told, Mapping) or not isinstance(found, Mapping):
        if told != found:
            yield _problem(path, "is not that of the release")
        return
    for name in sorted({*told, *found}, key=str):
        where = ".".join(filter(None, (path, str(name))))
        if name not in found:
            yield _problem(where, "is nothing that a certificate states of this release")
        elif name not in told:
            yield _problem(where, "is missing")
        else:
            yield from _differences(where, told[name], found[name])


def _problem(path: str, said: str) -> Problem:
    return Problem(".".join(filter(None, ("certificate", path))), said, hint=OTHER)
