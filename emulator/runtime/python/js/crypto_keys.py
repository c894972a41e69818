"""CryptoKey, and the words that the algorithms of `crypto.subtle` share."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.proxy import JsProxy, throw, to_python

_DIGESTS = {
    "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512", "MD5": "md5",
}  # fmt: skip


@dataclass
class Parameters:
    """An algorithm as a Worker gives it: a name, or an object with a name and more."""

    name: str
    given: Any = None
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, algorithm: Any) -> Parameters:
        if isinstance(algorithm, str):
            return cls(algorithm)
        name = idl.member(algorithm, {}, "name")
        if name is None:
            raise throw('Missing field "name" in "algorithm".', "TypeError")
        return cls(idl.string(name), algorithm)

    def get(self, name: str) -> Any:
        return idl.member(self.given, {}, name)

    def require(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise throw(f'Missing field "{name}" in "algorithm".', "TypeError")
        return value

    def bytes_of(self, name: str) -> bytes:
        data = idl.buffer(self.require(name))
        if data is None:
            raise throw(
                f"Incorrect type for the '{name}' field on 'Algorithm': the provided value is not of type "
                "'ArrayBuffer or ArrayBufferView'.",
                "TypeError",
            )
        return data

    @property
    def hash(self) -> str:
        """The canonical name of the hash, such as SHA-256."""
        return digest_name(Parameters.of(self.require("hash")).name)


def digest_name(name: str) -> str:
    if name.upper() not in _DIGESTS:
        raise throw("Unrecognized or unimplemented digest algorithm requested.", "NotSupportedError")
    return name.upper()


def hasher(name: str) -> Callable[..., Any]:
    """hashlib's constructor for a canonical name."""
    constructor: Callable[..., Any] = getattr(hashlib, _DIGESTS[name])
    return constructor


class CryptoKey(JsProxy):
    """`material` is the bytes of a secret key, or a key object of the `cryptography` package."""

    __slots__ = ("__weakref__", "_algorithm", "extractable", "material", "type", "usages")

    def __init__(
        self, material: Any, type: str, algorithm: dict[str, Any], usages: Iterable[str], extractable: bool
    ) -> None:
        self.material = material
        self.type = type
        self._algorithm = algorithm
        self.usages = to_python(list(usages))
        self.extractable = extractable

    @property
    def algorithm(self) -> Any:
        return to_python(self._algorithm)

    @property
    def name(self) -> str:
        return str(self._algorithm["name"])

    @property
    def hash(self) -> str:
        return str(self._algorithm["hash"]["name"])

    def check(self, algorithm: Parameters, usage: str) -> None:
        """May this key do that?"""
        if algorithm.name.upper() != self.name.upper():
            raise throw(
                f'Requested algorithm "{algorithm.name}" does not match this CryptoKey\'s algorithm "{self.name}".',
                "InvalidAccessError",
            )
        if usage not in list(self.usages):
            raise throw(
                f'Requested key usage "{usage}" does not match any usage listed in this CryptoKey.',
                "InvalidAccessError",
            )


def check_usages(operation: str, name: str, usages: list[str], allowed: Iterable[str]) -> None:
    """`operation` is "generate", "import secret", "import public" or "import private"."""
    for usage in usages:
        if usage not in allowed:
            raise throw(f'Attempt to {operation} {name} key with invalid usage "{usage}".', "SyntaxError")
    if not usages and operation in ("import secret", "import private"):
        raise throw("Secret/private CryptoKeys must have at least one usage.", "SyntaxError")


def from_base64url(text: Any) -> bytes:
    data = idl.string(text).encode()
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def secret_of(format: str, data: Any, name: str) -> bytes:
    """The bytes of a secret key in "raw" or "jwk" format."""
    if format == "raw":
        raw = idl.buffer(data)
        if raw is None:
            raise throw(
                'Import data provided for "raw", "pkcs8", or "spki" import formats must be a buffer source.',
                "TypeError",
            )
        return raw
    if format != "jwk":
        raise throw(f'Unrecognized key import format "{format}".', "NotSupportedError")
    kind = idl.optional_string(idl.member(data, {}, "kty"))
    if kind != "oct":
        raise throw(
            f'{name} "jwk" key import requires a JSON Web Key with Key Type parameter ("kty") equal to "oct" '
            f'(encountered "{kind}").',
            "DataError",
        )
    return from_base64url(idl.member(data, {}, "k"))
