"""Content types: essence and parameters, and whether a body of that type is text.

Source: https://mimesniff.spec.whatwg.org and workerd src/workerd/util/mimetype.h.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TYPE = re.compile(r"\s*([!#$%&'*+\-.^_`|~\w]+/[!#$%&'*+\-.^_`|~\w]+)\s*(?:;|\Z)", re.ASCII)
_PARAMETER = re.compile(r";\s*([!#$%&'*+\-.^_`|~\w]+)=(?:\"((?:[^\"\\]|\\.)*)\"|([^;]*))", re.ASCII)
_TEXTUAL = re.compile(r"text/.*|.*[/+](?:xml|json)|.*/(?:x-)?(?:java|ecma)script|application/dns-json")


@dataclass
class MimeType:
    """`essence` is type/subtype in lower case; names of `parameters` are in lower case, the first of each counts."""

    essence: str
    parameters: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return ";".join([self.essence, *(f"{name}={value}" for name, value in self.parameters.items())])

    @property
    def is_text(self) -> bool:
        return _TEXTUAL.fullmatch(self.essence) is not None


def parse(content_type: str) -> MimeType | None:
    """None for what is no content type."""
    found = _TYPE.match(content_type)
    if found is None:
        return None
    mime = MimeType(found[1].lower())
    for name, quoted, plain in _PARAMETER.findall(content_type):
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted else plain.strip()
        if value:
            mime.parameters.setdefault(name.lower(), value)
    return mime
