"""`navigator`, and `self`-like facts about the global scope.

Source: https://developers.cloudflare.com/workers/runtime-apis/web-standards/#navigatoruseragent.
"""

from __future__ import annotations

from flarebed.emulator.runtime.python.proxy import JsProxy


class Navigator(JsProxy):
    """Constants."""

    __slots__ = ()
    userAgent = "Cloudflare-Workers"
    hardwareConcurrency = 1
    language = "en"
    platform = ""
