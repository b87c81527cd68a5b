"""Signatures over a manifest's digest: Ed25519, with keys in PEM files. The library is optional."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anonymizer.errors import EngineError, GuaranteeError, PolicyError, no_file
from anonymizer.process.files import write_new
from anonymizer.release.manifest import Manifest
from anonymizer.release.seal import Sign, manifest_digest, seal_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

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
    _refuse_open(path, where)
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


def _refuse_open(path: Path, where: str) -> None:
    """Raise PolicyError for a key that others than its owner can read."""
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        said = f"{path.name} can be read by others than its owner"
        raise PolicyError.at(where, said, hint=f"chmod 600 {path}")


def _library(where: str) -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        said = "needs the library cryptography"
        raise EngineError.at(where, said, hint='pip install "sql-anonymizer[sign]"') from error
    return serialization, ed25519
