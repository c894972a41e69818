"""The global scope of JavaScript, as the module `js` shows it: the language's own (`language.py`), and the web's.

A class is reached through its constructor. Source: https://developers.cloudflare.com/workers/runtime-apis/web-standards/
and workerd src/workerd/api/global-scope.h.
"""

from __future__ import annotations

from typing import Any

from flarebed.emulator.runtime.python.js import encoding, language, timers
from flarebed.emulator.runtime.python.js.abort import AbortController, AbortSignal
from flarebed.emulator.runtime.python.js.blob import Blob, File
from flarebed.emulator.runtime.python.js.cache import Cache, CacheStorage
from flarebed.emulator.runtime.python.js.crypto import Crypto
from flarebed.emulator.runtime.python.js.crypto_keys import CryptoKey
from flarebed.emulator.runtime.python.js.events import (
    CloseEvent,
    CustomEvent,
    DOMException,
    ErrorEvent,
    Event,
    EventTarget,
    MessageEvent,
)
from flarebed.emulator.runtime.python.js.fetch import fetch
from flarebed.emulator.runtime.python.js.form import FormData
from flarebed.emulator.runtime.python.js.headers import Headers
from flarebed.emulator.runtime.python.js.navigator import Navigator
from flarebed.emulator.runtime.python.js.protocols import JsFunction
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.readable_controller import (
    ReadableByteStreamController,
    ReadableStreamDefaultController,
)
from flarebed.emulator.runtime.python.js.readers import ReadableStreamBYOBReader, ReadableStreamDefaultReader
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.js.response import Response
from flarebed.emulator.runtime.python.js.strategies import ByteLengthQueuingStrategy, CountQueuingStrategy
from flarebed.emulator.runtime.python.js.subtle import SubtleCrypto
from flarebed.emulator.runtime.python.js.transform import (
    CompressionStream,
    DecompressionStream,
    FixedLengthStream,
    IdentityTransformStream,
    TextDecoderStream,
    TextEncoderStream,
    TransformStream,
    TransformStreamDefaultController,
)
from flarebed.emulator.runtime.python.js.url import URL, URLSearchParams
from flarebed.emulator.runtime.python.js.websocket import WebSocket, WebSocketPair
from flarebed.emulator.runtime.python.js.writable import (
    WritableStream,
    WritableStreamDefaultController,
    WritableStreamDefaultWriter,
)
from flarebed.emulator.runtime.python.proxy import Constructor

_CLASSES = (
    AbortController, AbortSignal, Blob, ByteLengthQueuingStrategy, Cache, CacheStorage, CloseEvent, CompressionStream,
    CountQueuingStrategy, Crypto, CryptoKey, CustomEvent, DecompressionStream, DOMException, ErrorEvent, Event,
    EventTarget, File, FixedLengthStream, FormData, Headers, IdentityTransformStream, MessageEvent, Navigator,
    ReadableByteStreamController, ReadableStream, ReadableStreamBYOBReader, ReadableStreamDefaultController,
    ReadableStreamDefaultReader, Request, Response, SubtleCrypto, encoding.TextDecoder, encoding.TextEncoder,
    TextDecoderStream, TextEncoderStream, TransformStream, TransformStreamDefaultController, URL, URLSearchParams,
    WebSocket, WebSocketPair, WritableStream, WritableStreamDefaultController, WritableStreamDefaultWriter,
)  # fmt: skip
_FUNCTIONS = (
    encoding.atob, encoding.btoa, fetch, timers.setTimeout, timers.clearTimeout, timers.setInterval,
    timers.clearInterval, timers.setImmediate, timers.clearImmediate,
)  # fmt: skip


def exports() -> dict[str, Any]:
    """Every name of the global scope. Objects that keep something (caches) are made anew by each call."""
    return {
        **language.exports(),
        **{each.js_name: Constructor.of(each) for each in _CLASSES},
        **{function.__name__: JsFunction(function) for function in _FUNCTIONS},
        "caches": CacheStorage(),
        "crypto": Crypto(),
        "navigator": Navigator(),
        "performance": timers.Performance(),
        "scheduler": timers.Scheduler(),
    }
