"""A binding is added to a config, and nothing else changes."""

from __future__ import annotations

import pytest

from flarebed.emulator.config import jsonc
from flarebed.emulator.config.patch import with_binding

ITEM = {"binding": "B", "id": "i"}
ADDED = '{ "binding": "B", "id": "i" }'


@pytest.mark.parametrize(
    ("text", "env", "expected"),
    [
        ('{"a":1}', None, '{"a":1, "kv": [' + ADDED + "]}"),
        ('{\n\t"a": 1, // one\n}', None, '{\n\t"a": 1,\n\t"kv": [' + ADDED + "], // one\n}"),
        ('{"kv": [ /* none */ ], "b": 2}', None, '{"kv": [' + ADDED + '], "b": 2}'),
        ('{"kv": [{"binding":"A"}, ]}', None, '{"kv": [{"binding":"A"}, ' + ADDED + ", ]}"),
        ('{\n  "kv": [\n    {"binding":"A"} // a\n  ]\n}', None,
         '{\n  "kv": [\n    {"binding":"A"},\n    ' + ADDED + " // a\n  ]\n}"),
        ('{"kv": [{"binding": "B", "id": "old", "preview_id": "p"}]}', None,
         '{"kv": [{ "binding": "B", "id": "i", "preview_id": "p" }]}'),
        ('{"kv": [], "env": {"t": {}}}', "t", '{"kv": [], "env": {"t": { "kv": [' + ADDED + "] }}}"),
        ('{"env": {"t": {"name": "n"}}}', "t", '{"env": {"t": {"name": "n", "kv": [' + ADDED + "]}}}"),
        ('{"env": {"t": {"kv": [{"binding":"A"}]}}}', "t", '{"env": {"t": {"kv": [{"binding":"A"}, ' + ADDED + "]}}}"),
    ],
)  # fmt: skip
def test_adds(text: str, env: str | None, expected: str) -> None:
    patched = with_binding(text, "kv", env, ITEM)
    assert patched == expected
    jsonc.parse(patched)
