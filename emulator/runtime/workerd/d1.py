"""D1 behind workerd's own binding (`cloudflare-internal:d1-api`): POST /query and /execute, statements as JSON.

Source: workerd src/cloudflare/internal/d1-api.ts.
"""

from __future__ import annotations

import json
from typing import Any

from flarebed.bindings.d1.binding import D1Database
from flarebed.bindings.d1.database import Result
from flarebed.bindings.d1.parameters import to_lists, to_sqlite
from flarebed.bindings.sql import SqlError
from flarebed.emulator.runtime.workerd import wire
from flarebed.emulator.runtime.workerd.host import Adapter, Answered, Asked


def adapter(binding: D1Database) -> Adapter:
    database = binding._session.database

    async def answer(asked: Asked) -> Answered:
        given = json.loads(await asked.body())
        statements = given if isinstance(given, list) else [given]
        queries = [(each["sql"], tuple(map(to_sqlite, each.get("params") or ()))) for each in statements]
        try:
            results = await database.query(queries)
        except SqlError as error:
            return _json({"success": False, "error": error.message})
        return _json([_shown(result) for result in results])

    return answer


def _shown(result: Result) -> dict[str, Any]:
    rows = {"columns": list(result.columns), "rows": to_lists(result.rows)}
    return {"success": True, "results": rows, "meta": result.meta}


def _json(value: Any) -> Answered:
    return Answered(body=wire.dumps(value).encode(), headers=(("content-type", "application/json"),))
