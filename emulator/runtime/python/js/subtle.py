"""`crypto.subtle`: which algorithm does what. All of it runs at once; the promises are JavaScript's form.

Source: https://developers.cloudflare.com/workers/runtime-apis/web-crypto/ and workerd src/workerd/api/crypto.
"""

from __future__ import annotations

import functools
import hmac
from collections.abc import Callable, Iterable
from typing import Any

from flarebed.bindings.values import ArrayBuffer
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.crypto_keys import CryptoKey, Parameters, digest_name, hasher
from flarebed.emulator.runtime.python.js.crypto_library import Aes, Ecdsa, Ed25519, Rsa
from flarebed.emulator.runtime.python.js.crypto_secret import Hkdf, Hmac, Pbkdf2
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import JsProxy, throw, to_python

_ALGORITHMS: dict[str, Any] = {
    "HMAC": Hmac(),
    "PBKDF2": Pbkdf2(),
    "HKDF": Hkdf(),
    "ECDSA": Ecdsa("ECDSA"),
    "ED25519": Ed25519("Ed25519"),
    **{name: Aes(name) for name in ("AES-GCM", "AES-CBC", "AES-CTR")},
    **{name.upper(): Rsa(name) for name in ("RSASSA-PKCS1-v1_5", "RSA-PSS")},
}


def _promised(method: Callable[..., Any]) -> Callable[..., Promise]:
    """A method that gives a promise of its value, or of what it throws."""

    @functools.wraps(method)
    def wrapper(*arguments: Any) -> Promise:
        try:
            return Promise.fulfilled(method(*arguments))
        except Exception as error:
            return Promise.rejected(error)

    return wrapper


class SubtleCrypto(JsProxy):
    """`crypto.subtle`."""

    __slots__ = ()

    @_promised
    def digest(self, algorithm: Any, data: Any) -> ArrayBuffer:
        name = digest_name(Parameters.of(algorithm).name)
        return ArrayBuffer(hasher(name)(_bytes("digest", 2, data)).digest())

    @_promised
    def sign(self, algorithm: Any, key: CryptoKey, data: Any) -> ArrayBuffer:
        parameters = _parameters(algorithm, key, "sign")
        return ArrayBuffer(_of(key.name).sign(parameters, key, _bytes("sign", 3, data)))

    @_promised
    def verify(self, algorithm: Any, key: CryptoKey, signature: Any, data: Any) -> bool:
        parameters = _parameters(algorithm, key, "verify")
        matches: bool = _of(key.name).verify(parameters, key, _bytes("verify", 3, signature), _bytes("verify", 4, data))
        return matches

    @_promised
    def encrypt(self, algorithm: Any, key: CryptoKey, data: Any) -> ArrayBuffer:
        parameters = _parameters(algorithm, key, "encrypt")
        return ArrayBuffer(_of(key.name).encrypt(parameters, key, _bytes("encrypt", 3, data)))

    @_promised
    def decrypt(self, algorithm: Any, key: CryptoKey, data: Any) -> ArrayBuffer:
        parameters = _parameters(algorithm, key, "decrypt")
        return ArrayBuffer(_of(key.name).decrypt(parameters, key, _bytes("decrypt", 3, data)))

    @_promised
    def generateKey(self, algorithm: Any, extractable: Any, usages: Iterable[Any]) -> Any:
        parameters = Parameters.of(algorithm)
        known = _of(parameters.name, "key generation algorithm", "generate")
        return known.generate(parameters, idl.truthy(extractable), _usages(usages))

    @_promised
    def importKey(self, format: Any, data: Any, algorithm: Any, extractable: Any, usages: Iterable[Any]) -> CryptoKey:
        parameters = Parameters.of(algorithm)
        known = _of(parameters.name, "key import algorithm")
        key: CryptoKey = known.import_key(
            idl.string(format), data, parameters, idl.truthy(extractable), _usages(usages)
        )
        return key

    @_promised
    def exportKey(self, format: Any, key: CryptoKey) -> Any:
        if not key.extractable:
            raise throw(f"Attempt to export non-extractable {key.name} key.", "InvalidAccessError")
        exported = _of(key.name).export(idl.string(format), key)
        return ArrayBuffer(exported) if isinstance(exported, bytes) else exported

    @_promised
    def deriveBits(self, algorithm: Any, key: CryptoKey, length: Any = None) -> ArrayBuffer:
        parameters = _parameters(algorithm, key, "deriveBits")
        bits = None if idl.is_nothing(length) else idl.integer(length)
        return ArrayBuffer(_of(key.name).derive(parameters, key, bits))

    @_promised
    def deriveKey(
        self, algorithm: Any, key: CryptoKey, derived: Any, extractable: Any, usages: Iterable[Any]
    ) -> CryptoKey:
        parameters = _parameters(algorithm, key, "deriveKey")
        wanted = Parameters.of(derived)
        maker = _of(wanted.name, "derived key type")
        material = to_python(ArrayBuffer(_of(key.name).derive(parameters, key, maker.key_bits(wanted))))
        made: CryptoKey = maker.import_key("raw", material, wanted, idl.truthy(extractable), _usages(usages))
        return made

    def timingSafeEqual(self, one: Any, two: Any) -> bool:
        """workerd's own."""
        first, second = _bytes("timingSafeEqual", 1, one), _bytes("timingSafeEqual", 2, two)
        if len(first) != len(second):
            raise throw("Input buffers must have the same byte length.", "TypeError")
        return hmac.compare_digest(first, second)


def _of(name: str, what: str = "algorithm", ability: str = "import_key") -> Any:
    known = _ALGORITHMS.get(name.upper())
    if known is None or not hasattr(known, ability):
        raise throw(f'Unrecognized {what} "{name}" requested.', "NotSupportedError")
    return known


def _parameters(algorithm: Any, key: CryptoKey, usage: str) -> Parameters:
    parameters = Parameters.of(algorithm)
    key.check(parameters, usage)
    if "hash" in key._algorithm:
        parameters.options["hash"] = key.hash
    return parameters


def _usages(usages: Iterable[Any]) -> list[str]:
    return [idl.string(usage) for usage in usages]


def _bytes(method: str, position: int, data: Any) -> bytes:
    raw = idl.buffer(data)
    if raw is None:
        raise idl.not_of_type(method, "SubtleCrypto", position, "ArrayBuffer or ArrayBufferView")
    return raw
