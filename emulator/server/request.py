"""ASGI scope -> IncomingRequest: the URL as it was sent, the headers a Worker sees, the body as a stream.

What local development adds and hides was observed on wrangler 4.164: `accept-encoding` is always "br, gzip",
`cf-connecting-ip` is added, connection headers are not seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import Any, Final

from flarebed.emulator.runtime.http import IncomingRequest
from flarebed.emulator.runtime.request_body import chunks_of

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# The values that miniflare falls back to (workers-sdk, packages/miniflare/src/cf.ts).
_NO_CLIENT_CERTIFICATE: Final = {
    "certPresented": "0",
    "certVerified": "NONE",
    "certRevoked": "0",
    **dict.fromkeys(
        (
            "certIssuerDN", "certSubjectDN", "certIssuerDNRFC2253", "certSubjectDNRFC2253", "certIssuerDNLegacy",
            "certSubjectDNLegacy", "certSerial", "certIssuerSerial", "certSKI", "certIssuerSKI",
            "certFingerprintSHA1", "certFingerprintSHA256", "certNotBefore", "certNotAfter",
        ),
        "",
    ),
}  # fmt: skip
_CF: Final[dict[str, Any]] = {
    "asOrganization": "",
    "asn": 395747,
    "colo": "DFW",
    "city": "Austin",
    "region": "Texas",
    "regionCode": "TX",
    "metroCode": "635",
    "postalCode": "78701",
    "country": "US",
    "continent": "NA",
    "timezone": "America/Chicago",
    "latitude": "30.27130",
    "longitude": "-97.74260",
    "clientTcpRtt": 0,
    "httpProtocol": "HTTP/1.1",
    "requestPriority": "weight=192;exclusive=0",
    "tlsCipher": "AEAD-AES128-GCM-SHA256",
    "tlsVersion": "TLSv1.3",
    "tlsClientAuth": _NO_CLIENT_CERTIFICATE,
    "edgeRequestKeepAliveStatus": 0,
    "clientTrustScore": 99,
}

_HIDDEN: Final = frozenset((b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"expect"))


def incoming(scope: Scope, receive: Receive, as_host: str | None = None) -> IncomingRequest:
    """The request of an "http" or "websocket" scope; `as_host` is named in place of the host that was asked for."""
    headers: list[tuple[str, str]] = []
    host = accepted = ""
    has_body = knows_client = False
    for raw_name, raw_value in scope["headers"]:
        if raw_name in _HIDDEN:
            continue
        name, value = raw_name.decode("latin-1"), raw_value.decode("utf-8", "replace")
        if name == "accept-encoding":
            accepted = value
            continue
        if name == "host":
            host = value = as_host or value
        elif name in ("content-length", "transfer-encoding"):
            has_body = True
        elif name == "cf-connecting-ip":
            knows_client = True
        headers.append((name, value))
    headers.append(("accept-encoding", "br, gzip"))
    if not knows_client and scope["client"]:
        headers.append(("cf-connecting-ip", scope["client"][0]))
    # A request has a body exactly when its headers say so (workerd, api/global-scope.c++).
    body = chunks_of(receive) if has_body and scope["type"] == "http" else None
    return IncomingRequest(scope.get("method", "GET"), _url(scope, host), headers, body, _cf(accepted).copy())


@lru_cache(64)
def _cf(accepted: str) -> dict[str, Any]:
    """Made once, so that requests which do not differ in it have the same objects in it."""
    return {**_CF, "clientAcceptEncoding": accepted}


def _url(scope: Scope, host: str) -> str:
    target: str = scope["raw_path"].decode("latin-1")
    if scope["query_string"]:
        target += "?" + scope["query_string"].decode("latin-1")
    return f"http://{host or 'localhost'}{target}"
