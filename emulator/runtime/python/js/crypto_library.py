"""Algorithms that need the `cryptography` package, an optional one: AES, RSA, ECDSA and Ed25519.

Source: https://w3c.github.io/webcrypto and the texts of workerd src/workerd/api/crypto.
"""

from __future__ import annotations

import importlib
import secrets
from types import ModuleType
from typing import Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.crypto_keys import (
    CryptoKey,
    Parameters,
    base64url,
    check_usages,
    from_base64url,
    secret_of,
)
from flarebed.emulator.runtime.python.proxy import throw

_CIPHER_USES = ("encrypt", "decrypt", "wrapKey", "unwrapKey")
_CURVES = {"P-256": ("SECP256R1", 32), "P-384": ("SECP384R1", 48), "P-521": ("SECP521R1", 66)}
_TAG_BITS = (32, 64, 96, 104, 112, 120, 128)


def library(name: str) -> ModuleType:
    """A module of the package, loaded when first needed."""
    try:
        return importlib.import_module(f"cryptography.{name}")
    except ModuleNotFoundError:
        raise throw(
            "This algorithm of crypto.subtle needs the Python package 'cryptography': install it beside flarebed.",
            "NotSupportedError",
        ) from None


def _primitive(name: str) -> ModuleType:
    return library(f"hazmat.primitives.{name}")


def _hash(name: str) -> Any:
    return getattr(_primitive("hashes"), name.replace("-", ""))()


class Aes:
    """AES-GCM, AES-CBC and AES-CTR."""

    def __init__(self, name: str) -> None:
        self.name = name

    def import_key(
        self, format: str, data: Any, _algorithm: Parameters, extractable: bool, usages: list[str]
    ) -> CryptoKey:
        check_usages("import secret", self.name, usages, _CIPHER_USES)
        material = secret_of(format, data, self.name)
        if len(material) not in (16, 24, 32):
            bits = len(material) * 8
            raise throw(f"Imported AES key length must be 128, 192, or 256 bits but provided {bits}.", "DataError")
        return self._key(material, extractable, usages)

    def generate(self, algorithm: Parameters, extractable: bool, usages: list[str]) -> CryptoKey:
        check_usages("generate", self.name, usages, _CIPHER_USES)
        bits = idl.integer(algorithm.require("length"))
        if bits not in (128, 192, 256):
            text = f"Generated AES key length must be 128, 192, or 256 bits but requested {bits}."
            raise throw(text, "OperationError")
        return self._key(secrets.token_bytes(bits // 8), extractable, usages)

    def export(self, format: str, key: CryptoKey) -> Any:
        if format == "raw":
            return key.material
        if format != "jwk":
            text = f'{self.name} key only supports exporting "raw" & "jwk", not "{format}".'
            raise throw(text, "NotSupportedError")
        alg = f"A{len(key.material) * 8}{self.name[4:]}"
        return {"kty": "oct", "k": base64url(key.material), "alg": alg, "key_ops": list(key.usages), "ext": True}

    def encrypt(self, algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        if self.name == "AES-GCM":
            encryptor = self._cipher(algorithm, key).encryptor()
            encryptor.authenticate_additional_data(_additional(algorithm))
            text = encryptor.update(data) + encryptor.finalize()
            return bytes(text + encryptor.tag[: _tag_bytes(algorithm)])
        encryptor = self._cipher(algorithm, key).encryptor()
        if self.name == "AES-CBC":
            padder = _primitive("padding").PKCS7(128).padder()
            data = padder.update(data) + padder.finalize()
        return bytes(encryptor.update(data) + encryptor.finalize())

    def decrypt(self, algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        tag = b""
        if self.name == "AES-GCM":
            size = _tag_bytes(algorithm)
            if len(data) < size:
                raise throw(
                    f"Ciphertext length of {len(data) * 8} bits must be greater than or equal to the size of the "
                    f"AES-GCM tag length of {size * 8} bits.",
                    "OperationError",
                )
            data, tag = data[:-size], data[-size:]
        decryptor = self._cipher(algorithm, key, tag).decryptor()
        if self.name == "AES-GCM":
            decryptor.authenticate_additional_data(_additional(algorithm))
        try:
            plain = decryptor.update(data) + decryptor.finalize()
            if self.name == "AES-CBC":
                unpadder = _primitive("padding").PKCS7(128).unpadder()
                plain = unpadder.update(plain) + unpadder.finalize()
        except (ValueError, library("exceptions").InvalidTag):
            raise throw(
                "Decryption failed. This could be due to a ciphertext authentication failure, bad padding, incorrect "
                "CryptoKey, or another algorithm-specific reason. Input length was "
                f"{len(data)}, output length expected to be {len(data)} for {self.name}",
                "OperationError",
            ) from None
        return bytes(plain)

    def _cipher(self, algorithm: Parameters, key: CryptoKey, tag: bytes = b"") -> Any:
        ciphers = _primitive("ciphers")
        modes = library("hazmat.primitives.ciphers.modes")
        if self.name == "AES-GCM":
            iv = algorithm.bytes_of("iv")
            if not iv:
                raise throw("AES-GCM IV must not be empty.", "OperationError")
            mode = modes.GCM(iv, tag or None, min_tag_length=_tag_bytes(algorithm))
        elif self.name == "AES-CBC":
            iv = algorithm.bytes_of("iv")
            if len(iv) != 16:
                raise throw(f"AES-CBC IV must be 16 bytes long (provided {len(iv)} bytes).", "OperationError")
            mode = modes.CBC(iv)
        else:
            mode = modes.CTR(algorithm.bytes_of("counter"))
        return ciphers.Cipher(library("hazmat.primitives.ciphers.algorithms").AES(key.material), mode)

    @staticmethod
    def key_bits(algorithm: Parameters) -> int:
        bits = idl.integer(algorithm.require("length"))
        if bits not in (128, 192, 256):
            text = f"Derived AES key must be 128, 192, or 256 bits in length but provided {bits}."
            raise throw(text, "OperationError")
        return bits

    def _key(self, material: bytes, extractable: bool, usages: list[str]) -> CryptoKey:
        return CryptoKey(material, "secret", {"name": self.name, "length": len(material) * 8}, usages, extractable)


def _additional(algorithm: Parameters) -> bytes:
    return b"" if algorithm.get("additionalData") is None else algorithm.bytes_of("additionalData")


def _tag_bytes(algorithm: Parameters) -> int:
    bits = idl.integer(algorithm.get("tagLength"), 128)
    if bits not in _TAG_BITS:
        raise throw(f"Invalid AES-GCM tag length {bits}.", "OperationError")
    return bits // 8


class _Asymmetric:
    """What the algorithms with key pairs share."""

    def __init__(self, name: str) -> None:
        self.name = name

    def import_key(
        self, format: str, data: Any, algorithm: Parameters, extractable: bool, usages: list[str]
    ) -> CryptoKey:
        material = self._from_jwk(data) if format == "jwk" else self._from_bytes(format, data, algorithm)
        private = hasattr(material, "sign")
        allowed = ("sign",) if private else ("verify",)
        check_usages(f"import {'private' if private else 'public'}", self.name, usages, allowed)
        return self._key(material, algorithm, extractable, usages)

    def generate(self, algorithm: Parameters, extractable: bool, usages: list[str]) -> dict[str, CryptoKey]:
        check_usages("generate", self.name, usages, ("sign", "verify"))
        private = self._generate(algorithm)
        signing = [usage for usage in usages if usage == "sign"]
        verifying = [usage for usage in usages if usage == "verify"]
        return {
            "publicKey": self._key(private.public_key(), algorithm, True, verifying),
            "privateKey": self._key(private, algorithm, extractable, signing),
        }

    def export(self, format: str, key: CryptoKey) -> Any:
        serialization = _primitive("serialization")
        if format == "spki" and key.type == "public":
            der, info = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            return key.material.public_bytes(der, info)
        if format == "pkcs8" and key.type == "private":
            der, info = serialization.Encoding.DER, serialization.PrivateFormat.PKCS8
            return key.material.private_bytes(der, info, serialization.NoEncryption())
        raise throw(f'Cannot export "{self.name}" in "{format}" format.', "InvalidAccessError")

    def _from_bytes(self, format: str, data: Any, _algorithm: Parameters) -> Any:
        serialization = _primitive("serialization")
        raw = idl.buffer(data)
        if raw is None or format not in ("spki", "pkcs8"):
            raise throw(f'Unrecognized key import format "{format}".', "NotSupportedError")
        try:
            if format == "spki":
                return serialization.load_der_public_key(raw)
            return serialization.load_der_private_key(raw, None)
        except ValueError:
            raise throw(f"Invalid {format.upper()} input.", "DataError") from None

    def _from_jwk(self, data: Any) -> Any:
        raise NotImplementedError

    def _generate(self, algorithm: Parameters) -> Any:
        raise NotImplementedError

    def _key(self, material: Any, algorithm: Parameters, extractable: bool, usages: list[str]) -> CryptoKey:
        private = hasattr(material, "sign")
        description = self._description(algorithm, material)
        return CryptoKey(material, "private" if private else "public", description, usages, extractable or not private)

    def _description(self, _algorithm: Parameters, _material: Any) -> dict[str, Any]:
        return {"name": self.name}

    def _checked(self, key: CryptoKey, *arguments: Any) -> bool:
        try:
            key.material.verify(*arguments)
        except library("exceptions").InvalidSignature:
            return False
        return True


class Rsa(_Asymmetric):
    """RSASSA-PKCS1-v1_5 and RSA-PSS."""

    def sign(self, algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        return bytes(key.material.sign(data, self._padding(algorithm), _hash(key.hash)))

    def verify(self, algorithm: Parameters, key: CryptoKey, signature: bytes, data: bytes) -> bool:
        return self._checked(key, signature, data, self._padding(algorithm), _hash(key.hash))

    def _padding(self, algorithm: Parameters) -> Any:
        padding = library("hazmat.primitives.asymmetric.padding")
        if self.name == "RSASSA-PKCS1-v1_5":
            return padding.PKCS1v15()
        digest = _hash(algorithm.options["hash"])
        return padding.PSS(padding.MGF1(digest), idl.integer(algorithm.require("saltLength")))

    def _from_jwk(self, data: Any) -> Any:
        rsa = library("hazmat.primitives.asymmetric.rsa")

        def part(name: str) -> int:
            return int.from_bytes(from_base64url(idl.member(data, {}, name)), "big")

        public = rsa.RSAPublicNumbers(part("e"), part("n"))
        if idl.member(data, {}, "d") is None:
            return public.public_key()
        return rsa.RSAPrivateNumbers(
            part("p"), part("q"), part("d"), part("dp"), part("dq"), part("qi"), public
        ).private_key()

    def _generate(self, algorithm: Parameters) -> Any:
        exponent = int.from_bytes(algorithm.bytes_of("publicExponent"), "big")
        bits = idl.integer(algorithm.require("modulusLength"))
        return library("hazmat.primitives.asymmetric.rsa").generate_private_key(exponent, bits)

    def _description(self, algorithm: Parameters, material: Any) -> dict[str, Any]:
        return {"name": self.name, "modulusLength": material.key_size, "hash": {"name": algorithm.hash}}


class Ecdsa(_Asymmetric):
    """ECDSA; signatures are r and s side by side."""

    def sign(self, algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        ec = library("hazmat.primitives.asymmetric.ec")
        der = key.material.sign(data, ec.ECDSA(_hash(algorithm.hash)))
        size = _CURVES[key._algorithm["namedCurve"]][1]
        r, s = library("hazmat.primitives.asymmetric.utils").decode_dss_signature(der)
        return bytes(r.to_bytes(size, "big") + s.to_bytes(size, "big"))

    def verify(self, algorithm: Parameters, key: CryptoKey, signature: bytes, data: bytes) -> bool:
        half = len(signature) // 2
        r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
        der = library("hazmat.primitives.asymmetric.utils").encode_dss_signature(r, s)
        ec = library("hazmat.primitives.asymmetric.ec")
        return self._checked(key, der, data, ec.ECDSA(_hash(algorithm.hash)))

    def _from_bytes(self, format: str, data: Any, algorithm: Parameters) -> Any:
        raw = idl.buffer(data)
        if format != "raw" or raw is None:
            return super()._from_bytes(format, data, algorithm)
        ec = library("hazmat.primitives.asymmetric.ec")
        return ec.EllipticCurvePublicKey.from_encoded_point(self._curve(algorithm.require("namedCurve")), raw)

    def _from_jwk(self, data: Any) -> Any:
        ec = library("hazmat.primitives.asymmetric.ec")
        x, y = (int.from_bytes(from_base64url(idl.member(data, {}, name)), "big") for name in ("x", "y"))
        public = ec.EllipticCurvePublicNumbers(x, y, self._curve(idl.member(data, {}, "crv")))
        secret = idl.member(data, {}, "d")
        if secret is None:
            return public.public_key()
        return ec.EllipticCurvePrivateNumbers(int.from_bytes(from_base64url(secret), "big"), public).private_key()

    def _generate(self, algorithm: Parameters) -> Any:
        ec = library("hazmat.primitives.asymmetric.ec")
        return ec.generate_private_key(self._curve(algorithm.require("namedCurve")))

    @staticmethod
    def _curve(name: Any) -> Any:
        known = _CURVES.get(idl.string(name))
        if known is None:
            raise throw(f'Unrecognized or unimplemented EC curve "{idl.string(name)}" requested.', "NotSupportedError")
        return getattr(library("hazmat.primitives.asymmetric.ec"), known[0])()

    def _description(self, algorithm: Parameters, _material: Any) -> dict[str, Any]:
        return {"name": self.name, "namedCurve": idl.string(algorithm.require("namedCurve"))}


class Ed25519(_Asymmetric):
    """Ed25519."""

    def sign(self, _algorithm: Parameters, key: CryptoKey, data: bytes) -> bytes:
        return bytes(key.material.sign(data))

    def verify(self, _algorithm: Parameters, key: CryptoKey, signature: bytes, data: bytes) -> bool:
        return self._checked(key, signature, data)

    def _from_bytes(self, format: str, data: Any, algorithm: Parameters) -> Any:
        raw = idl.buffer(data)
        if format != "raw" or raw is None:
            return super()._from_bytes(format, data, algorithm)
        return library("hazmat.primitives.asymmetric.ed25519").Ed25519PublicKey.from_public_bytes(raw)

    def _from_jwk(self, data: Any) -> Any:
        ed25519 = library("hazmat.primitives.asymmetric.ed25519")
        secret = idl.member(data, {}, "d")
        if secret is not None:
            return ed25519.Ed25519PrivateKey.from_private_bytes(from_base64url(secret))
        return ed25519.Ed25519PublicKey.from_public_bytes(from_base64url(idl.member(data, {}, "x")))

    def _generate(self, _algorithm: Parameters) -> Any:
        return library("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()
