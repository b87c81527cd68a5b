"""DSSE envelopes (Dead Simple Signing Envelope, version 1) with Ed25519 signatures.

The signature is over the payload's pre-authentication encoding, which names its type, so that it
is valid for no other kind of message. https://github.com/secure-systems-lab/dsse
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from anonymizer.errors import GuaranteeError, NothingToCheckError
from anonymizer.release.signing import key_id

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

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


def opened(text: bytes, kind: str, key: Ed25519PublicKey) -> bytes:
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
