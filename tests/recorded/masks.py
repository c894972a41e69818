"""What varies from run to run and is therefore masked on both sides: addresses, ids, times, durations, bookmarks."""

from __future__ import annotations

import re

MASKS = (
    (r"0x[0-9a-f]{5,}", "0xADDR"),
    (r"\b[0-9a-f]{64}\b", "HEX64"),
    (r"\b[0-9a-f]{32}\b", "HEX32"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-HEX32", "BOOKMARK"),
    (r"'(duration|sql_duration_ms|size_after|backlogBytes)': [0-9.e-]+", r"'\1': N"),
    (r"datetime\.datetime\(20[0-9, ]+\)", "DATETIME"),
    (r"\b1[78][0-9]{8,11}(\.[0-9]+)?\b", "EPOCH"),
    (r"20\d\d-\d\d-\d\dT[0-9:.]+Z", "ISOTIME"),
    (r'File \\?"[^"\\]+\\?"', 'File "F"'),
    (r"line \d+", "line N"),
    (r" *[~^]{3,}", ""),
    (r"introspection_[0-9a-f]+", "introspection"),
    (r"file:///[^ )\\]+", "FILE"),
    (r"127\.0\.0\.1:\d+", "HERE"),
    (r"reference = \w+", "reference = R"),
    (r"fd=\d+", "fd=N"),
    (r"float: 0\.[0-9]+", "float: SECONDS"),
)


def mask(text: str) -> str:
    for pattern, put in MASKS:
        text = re.sub(pattern, put, text)
    return text.strip()
