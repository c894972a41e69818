"""`crypto`: the known answers of RFCs and NIST, round trips, and complaints."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import in_worker, raised, thrown, view

from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.ffi import to_js
from flarebed.emulator.runtime.python.js import crypto_library
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.proxy import to_python

js = SimpleNamespace(**exports())
subtle = js.crypto.subtle


def hex_of(buffer: Any) -> str:
    return buffer.to_bytes().hex()


def h(text: str) -> Any:
    return view(bytes.fromhex(text))


def test_random_values() -> None:
    async def code() -> Any:
        array = to_python(View(ArrayBuffer(bytearray(32)), "Uint16Array"))
        same = js.crypto.getRandomValues(array) is array
        return js.crypto.randomUUID(), same, len(set(array)) > 4

    uuid, *rest = in_worker(code)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", uuid)
    assert rest == [True, True]


def test_complaints_about_random_values() -> None:
    async def code() -> list[str]:
        floats = to_python(View(ArrayBuffer(bytearray(8)), "Float64Array"))
        return [raised(js.crypto.getRandomValues, value) for value in (floats, "x", view(bytes(65_537)))]

    kind = "TypeMismatchError: ArrayBufferView argument to getRandomValues() must be an integer-typed view."
    assert in_worker(code) == [
        kind,
        kind,
        "QuotaExceededError: getRandomValues() only accepts buffers of size <= 64K but provided 65537 bytes.",
    ]


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("SHA-1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha-256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("MD5", "900150983cd24fb0d6963f7d28e17f72"),
    ],
)
def test_digests(name: str, digest: str) -> None:
    async def code() -> Any:
        return hex_of(await subtle.digest(name, view(b"abc"))), hex_of(
            await subtle.digest(to_js({"name": name}), view(b"abc"))
        )

    assert in_worker(code) == (digest, digest)


def test_hmac() -> None:
    """RFC 4231, test case 2."""

    async def code() -> Any:
        algorithm = to_js({"name": "HMAC", "hash": "SHA-256"})
        key = await subtle.importKey("raw", view(b"Jefe"), algorithm, True, ["sign", "verify"])
        data = view(b"what do ya want for nothing?")
        signature = await subtle.sign("HMAC", key, data)
        jwk = await subtle.exportKey("jwk", key)
        again = await subtle.importKey("jwk", jwk, algorithm, False, ["verify"])
        return [
            hex_of(signature),
            await subtle.verify("HMAC", again, signature, data),
            await subtle.verify("HMAC", key, signature, view(b"other")),
            (
                key.type,
                key.algorithm.name,
                key.algorithm.hash.name,
                key.algorithm.length,
                list(key.usages),
                key.extractable,
            ),
            (jwk.kty, jwk.k, jwk.alg, list(jwk.key_ops), jwk.ext),
            (await subtle.exportKey("raw", key)).to_bytes(),
        ]

    assert in_worker(code) == [
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        True,
        False,
        ("secret", "HMAC", "SHA-256", 32, ["sign", "verify"], True),
        ("oct", "SmVmZQ", "HS256", ["sign", "verify"], True),
        b"Jefe",
    ]


def test_pbkdf2() -> None:
    """RFC 7914, section 11."""

    async def code() -> str:
        key = await subtle.importKey("raw", view(b"passwd"), "PBKDF2", False, ["deriveBits"])
        algorithm = to_js({"name": "PBKDF2", "hash": "SHA-256", "salt": view(b"salt"), "iterations": 1})
        return hex_of(await subtle.deriveBits(algorithm, key, 256))

    assert in_worker(code) == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"


def test_hkdf() -> None:
    """RFC 5869, test cases 1 and 3."""

    async def code() -> Any:
        material = h("0b" * 22)
        key = await subtle.importKey("raw", material, "HKDF", False, ["deriveBits", "deriveKey"])
        one = {
            "name": "HKDF",
            "hash": "SHA-256",
            "salt": h("000102030405060708090a0b0c"),
            "info": h("f0f1f2f3f4f5f6f7f8f9"),
        }
        three = {**one, "salt": view(b""), "info": view(b"")}
        derived = await subtle.deriveKey(to_js(one), key, to_js({"name": "HMAC", "hash": "SHA-256"}), True, ["sign"])
        return [
            hex_of(await subtle.deriveBits(to_js(each), key, 336)) for each in (one, three)
        ], derived.algorithm.length

    assert in_worker(code) == (
        [
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ],
        512,
    )


def test_timing_safe_equal() -> None:
    assert (subtle.timingSafeEqual(view(b"a"), view(b"a")), subtle.timingSafeEqual(view(b"a"), view(b"b"))) == (
        True,
        False,
    )
    assert raised(subtle.timingSafeEqual, view(b"a"), view(b"ab")) == (
        "TypeError: Input buffers must have the same byte length."
    )


async def hmac_key(*usages: str, extractable: bool = False) -> Any:
    return await subtle.generateKey(to_js({"name": "HMAC", "hash": "SHA-256"}), extractable, list(usages))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (
            lambda: subtle.digest("SHA-3", view(b"")),
            "NotSupportedError: Unrecognized or unimplemented digest algorithm requested.",
        ),
        (
            lambda: subtle.digest("SHA-1", "text"),
            "TypeError: Failed to execute 'digest' on 'SubtleCrypto': parameter 2 is not of type 'ArrayBuffer or "
            "ArrayBufferView'.",
        ),
        (
            lambda: subtle.importKey("raw", view(b"k"), "NOPE", False, ["sign"]),
            'NotSupportedError: Unrecognized key import algorithm "NOPE" requested.',
        ),
        (
            lambda: subtle.importKey("raw", view(b"k"), to_js({"name": "HMAC"}), False, ["sign"]),
            'TypeError: Missing field "hash" in "algorithm".',
        ),
        (
            lambda: subtle.importKey("raw", view(b"k"), to_js({"name": "HMAC", "hash": "SHA-1"}), False, ["encrypt"]),
            'SyntaxError: Attempt to import secret HMAC key with invalid usage "encrypt".',
        ),
        (
            lambda: subtle.importKey("raw", view(b"k"), to_js({"name": "HMAC", "hash": "SHA-1"}), False, []),
            "SyntaxError: Secret/private CryptoKeys must have at least one usage.",
        ),
        (
            lambda: subtle.generateKey("PBKDF2", False, ["deriveBits"]),
            'NotSupportedError: Unrecognized key generation algorithm "PBKDF2" requested.',
        ),
    ],
)
def test_complaints(call: Any, complaint: str) -> None:
    async def code() -> str:
        return await thrown(call())

    assert in_worker(code) == complaint


def test_a_key_does_what_it_was_made_for() -> None:
    async def code() -> list[str]:
        key = await hmac_key("sign")
        return [
            await thrown(subtle.verify("HMAC", key, view(b""), view(b""))),
            await thrown(subtle.sign("ECDSA", key, view(b""))),
            await thrown(subtle.exportKey("raw", key)),
        ]

    assert in_worker(code) == [
        'InvalidAccessError: Requested key usage "verify" does not match any usage listed in this CryptoKey.',
        'InvalidAccessError: Requested algorithm "ECDSA" does not match this CryptoKey\'s algorithm "HMAC".',
        "InvalidAccessError: Attempt to export non-extractable HMAC key.",
    ]


def test_what_needs_the_cryptography_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(crypto_library.importlib, "import_module", missing)

    async def code() -> str:
        key = await subtle.importKey("raw", view(bytes(16)), "AES-GCM", False, ["encrypt"])
        return await thrown(subtle.encrypt(to_js({"name": "AES-GCM", "iv": view(bytes(12))}), key, view(b"x")))

    assert in_worker(code) == (
        "NotSupportedError: This algorithm of crypto.subtle needs the Python package 'cryptography': install it beside "
        "flarebed."
    )


# With the cryptography package.


def test_aes_gcm() -> None:
    """The GCM specification, test case 4 (McGrew and Viega)."""
    pytest.importorskip("cryptography")

    async def code() -> Any:
        key = await subtle.importKey(
            "raw", h("feffe9928665731c6d6a8f9467308308"), "AES-GCM", True, ["encrypt", "decrypt"]
        )
        algorithm = to_js(
            {
                "name": "AES-GCM",
                "iv": h("cafebabefacedbaddecaf888"),
                "additionalData": h("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
            }
        )
        plain = h(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
            "ba637b39"
        )
        sealed = await subtle.encrypt(algorithm, key, plain)
        opened = await subtle.decrypt(algorithm, key, sealed)
        broken = view(sealed.to_bytes()[:-1] + b"\0")
        return (
            hex_of(sealed),
            opened.to_bytes() == plain.to_bytes(),
            await thrown(subtle.decrypt(algorithm, key, broken)),
        )

    sealed, opened, complaint = in_worker(code)
    assert sealed == (
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e0"
        "915bc94fbc3221a5db94fae95ae7121a47"
    )
    assert opened
    assert complaint.startswith("OperationError: Decryption failed.")


@pytest.mark.parametrize("name", ["AES-CBC", "AES-CTR"])
def test_other_aes_modes(name: str) -> None:
    pytest.importorskip("cryptography")

    async def code() -> Any:
        key = await subtle.generateKey(to_js({"name": name, "length": 256}), True, ["encrypt", "decrypt"])
        algorithm = to_js({"name": name, "iv": view(bytes(16)), "counter": view(bytes(16)), "length": 64})
        sealed = await subtle.encrypt(algorithm, key, view(b"attack at dawn"))
        jwk = await subtle.exportKey("jwk", key)
        return (await subtle.decrypt(algorithm, key, sealed)).to_bytes(), jwk.alg

    assert in_worker(code) == (b"attack at dawn", f"A256{name[4:]}")


@pytest.mark.parametrize(
    ("made", "used"),
    [
        ({"name": "ECDSA", "namedCurve": "P-256"}, {"name": "ECDSA", "hash": "SHA-256"}),
        ({"name": "Ed25519"}, {"name": "Ed25519"}),
        (
            {"name": "RSASSA-PKCS1-v1_5", "hash": "SHA-256", "modulusLength": 2048, "publicExponent": h("010001")},
            {"name": "RSASSA-PKCS1-v1_5"},
        ),
        (
            {"name": "RSA-PSS", "hash": "SHA-256", "modulusLength": 2048, "publicExponent": h("010001")},
            {"name": "RSA-PSS", "saltLength": 32},
        ),
    ],
)
def test_signatures(made: Any, used: Any) -> None:
    pytest.importorskip("cryptography")

    async def code() -> Any:
        pair = await subtle.generateKey(to_js(made), True, ["sign", "verify"])
        data = view(b"signed")
        signature = await subtle.sign(to_js(used), pair.privateKey, data)
        public = await subtle.importKey(
            "spki", await subtle.exportKey("spki", pair.publicKey), to_js(made), True, ["verify"]
        )
        private = await subtle.importKey(
            "pkcs8", await subtle.exportKey("pkcs8", pair.privateKey), to_js(made), True, ["sign"]
        )
        again = await subtle.sign(to_js(used), private, data)
        return [
            await subtle.verify(to_js(used), public, signature, data),
            await subtle.verify(to_js(used), pair.publicKey, again, data),
            await subtle.verify(to_js(used), public, signature, view(b"other")),
            (public.type, private.type, private.algorithm.name),
        ]

    assert in_worker(code) == [True, True, False, ("public", "private", made["name"])]


def test_a_public_key_as_json() -> None:
    """RFC 7515, appendix A.3: a JWT signed with ES256."""
    pytest.importorskip("cryptography")
    jwk = {
        "kty": "EC",
        "crv": "P-256",
        "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    }
    signed = (
        b"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        b"cnVlfQ"
    )
    signature = crypto_library.from_base64url(
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    )

    async def code() -> Any:
        algorithm = to_js({"name": "ECDSA", "namedCurve": "P-256", "hash": "SHA-256"})
        key = await subtle.importKey("jwk", to_js(jwk), algorithm, True, ["verify"])
        return await subtle.verify(algorithm, key, view(signature), view(signed))

    assert in_worker(code) is True
