from __future__ import annotations

from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import raised, view

from flarebed.emulator.runtime.python.js.encoding import TextDecoder, TextEncoder, atob, btoa


def test_text_to_utf8() -> None:
    encoder = TextEncoder()
    assert encoder.encode("é☃\ud800").to_bytes() == b"\xc3\xa9\xe2\x98\x83\xef\xbf\xbd"
    assert encoder.encode().to_bytes() == b""
    target = view(bytes(4))
    result = encoder.encodeInto("aé☃", target)
    assert (result.read, result.written, target.to_bytes()) == (2, 3, b"a\xc3\xa9\x00")


@pytest.mark.parametrize(
    ("label", "data", "text", "encoding"),
    [
        ("UTF-8", b"\xef\xbb\xbfa\xff", "a\ufffd", "utf-8"),
        ("utf-16le", b"a\0", "a", "utf-16le"),
        ("latin1", b"\x80\xe9", "€é", "windows-1252"),
        ("sjis", b"\x82\xa0", "あ", "shift_jis"),
    ],
)
def test_bytes_to_text(label: str, data: bytes, text: str, encoding: str) -> None:
    decoder = TextDecoder(label)
    assert (decoder.decode(view(data)), decoder.encoding) == (text, encoding)


def test_a_character_may_be_split_between_calls() -> None:
    decoder = TextDecoder()
    assert decoder.decode(view(b"\xe2\x98"), stream=True) == ""
    assert decoder.decode(view(b"\x83!")) == "☃!"


def test_fatal_and_ignore_bom() -> None:
    assert raised(TextDecoder("utf-8", fatal=True).decode, view(b"\xff")) == "TypeError: Failed to decode input."
    assert TextDecoder("utf-8", ignoreBOM=True).decode(view(b"\xef\xbb\xbfa")) == "\ufeffa"
    assert raised(TextDecoder, "klingon") == 'RangeError: "klingon" is not a valid encoding.'


def test_base64() -> None:
    assert (btoa("hé"), atob("aOk="), atob(" a G k ")) == ("aOk=", "hé", "hi")
    assert raised(btoa, "☃") == (
        "InvalidCharacterError: btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range."
    )


@pytest.mark.parametrize("data", ["a", "ab=c", "a===", "a-b_", "aGk=="])
def test_what_is_not_base64(data: Any) -> None:
    assert raised(atob, data).startswith("InvalidCharacterError: atob() called with invalid base64-encoded data.")
