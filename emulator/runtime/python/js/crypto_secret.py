"""Algorithms over secret keys that Python's own library has: HMAC, PBKDF2 and HKDF.

Source: https://w3c.github.io/webcrypto and the texts of workerd src/workerd/api/crypto.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.crypto_keys import (
    CryptoKey,
    Parameters,
    base64url,
    check_usages,
    hasher,
    secret_of,
)
from flarebed.emulator.runtime.python.proxy import throw

_SIGNING = ("sign", "verify")
_DERIVING = ("deriveKey", "deriveBits")
_MOST_ITERATIONS = 100_000


class Hmac:
    """HMAC."""

    def import_key(
        self, format: str, data: Any, algorithm: Parameters, extractable: bool, usages: list[str]
    ) -> CryptoKey:
        check_usages("import secret", "HMAC", usages, _SIGNING)
        material = secret_of(format, data, "HMAC")
        if not material:
            raise throw(
                "Imported HMAC key length (0) must be a non-zero value up to 7 bits less than, and no greater than, "
                "the bit length of the raw key data (0).",
                "DataError",
            )
        return self._key(material, algorithm.hash, extractable, usages)

    def generate(self, algorithm: Parameters, extractable: bool, usages: list[str]) -> CryptoKey:
        check_usages("generate", "HMAC", usages, _SIGNING)
        block_bits = hasher(algorithm.hash)().block_size * 8
        length = idl.integer(algorithm.get("length"), block_bits)
        return self._key(secrets.token_bytes(length // 8), algorithm.hash, extractable, usages)

    def export(self, format: str, key: CryptoKey) -> Any:
        if format == "raw":
            return key.material
        if format != "jwk":
            raise throw(f'Unimplemented key export format "{format}".', "NotSupportedError")
        return {
            "kty": "oct", "k": base64url(key.material), "alg": f"HS{key.hash[4:]}", "key_ops": list(key.usages),
            "ext": True,
        }  # fmt: skip

    def sign(self, _algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        return hmac.digest(key.material, data, hasher(key.hash))

    def verify(self, algorithm: Parameters, key: CryptoKey, signature: bytes, data: bytes) -> bool:
        return hmac.compare_digest(self.sign(algorithm, key, data), signature)

    @staticmethod
    def key_bits(algorithm: Parameters) -> int:
        return idl.integer(algorithm.get("length"), hasher(algorithm.hash)().block_size * 8)

    @staticmethod
    def _key(material: bytes, digest: str, extractable: bool, usages: list[str]) -> CryptoKey:
        description = {"name": "HMAC", "hash": {"name": digest}, "length": len(material) * 8}
        return CryptoKey(material, "secret", description, usages, extractable)


class _Derivation:
    """What PBKDF2 and HKDF share."""

    name: str

    def import_key(
        self, format: str, data: Any, _algorithm: Parameters, extractable: bool, usages: list[str]
    ) -> CryptoKey:
        check_usages("import secret", self.name, usages, _DERIVING)
        if extractable:
            raise throw(f"{self.name} key cannot be extractable.", "SyntaxError")
        if format != "raw":
            raise throw(f'Unrecognized key import format "{format}".', "NotSupportedError")
        return CryptoKey(secret_of(format, data, self.name), "secret", {"name": self.name}, usages, False)

    def derive(self, algorithm: Parameters, key: CryptoKey, bits: int | None) -> bytes:
        if bits is None:
            raise throw(f"{self.name} cannot derive a key with null length.", "OperationError")
        if bits <= 0 or bits % 8:
            raise throw(
                f"{self.name} requires a derived key length that is a non-zero multiple of eight (requested {bits}).",
                "OperationError",
            )
        return self._derive(algorithm, key, bits // 8)

    def _derive(self, algorithm: Parameters, key: CryptoKey, length: int) -> bytes:
        raise NotImplementedError


class Pbkdf2(_Derivation):
    """PBKDF2."""

    name = "PBKDF2"

    def _derive(self, algorithm: Parameters, key: CryptoKey, length: int) -> bytes:
        salt = algorithm.bytes_of("salt")
        iterations = idl.integer(algorithm.require("iterations"))
        if iterations <= 0:
            raise throw(f"PBKDF2 requires a positive iteration count (requested {iterations}).", "OperationError")
        if iterations > _MOST_ITERATIONS:
            raise throw(
                f"Pbkdf2 failed: iteration counts above {_MOST_ITERATIONS} are not supported (requested {iterations}).",
                "NotSupportedError",
            )
        return hashlib.pbkdf2_hmac(hasher(algorithm.hash)().name, key.material, salt, iterations, length)


class Hkdf(_Derivation):
    """HKDF (RFC 5869)."""

    name = "HKDF"

    def _derive(self, algorithm: Parameters, key: CryptoKey, length: int) -> bytes:
        digest = hasher(algorithm.hash)
        info = algorithm.bytes_of("info")
        if length > 255 * digest().digest_size:
            raise throw("HKDF deriveBits failed.", "OperationError")
        salt = algorithm.bytes_of("salt") or bytes(digest().digest_size)
        pseudo_random = hmac.digest(salt, key.material, digest)
        block, output = b"", b""
        for counter in range(1, 256):
            if len(output) >= length:
                break
            block = hmac.digest(pseudo_random, block + info + bytes([counter]), digest)
            output += block
        return output[:length]
