"""The projects that `templates.py` serves, and what each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import template_checks as checks


@dataclass(frozen=True)
class Template:
    """`uses` is for the table; `packages` are those of npm that its code imports, `before` commands of flarebed;
    `polyfills` says that it takes modules of Node.js that its date has not in workerd, which wrangler brings along.
    """

    name: str
    path: str
    uses: str
    check: Callable[[checks.Site], None]
    packages: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    options: tuple[str, ...] = ()
    polyfills: bool = False


CHANFANA = ("chanfana", "hono", "zod")
PARTY = ("partyserver", "partysocket", "react", "react-dom")
FIXTURES, C3 = "workers-sdk/fixtures", "workers-sdk/packages/create-cloudflare/templates"

TEMPLATES = (
    Template(
        "d1",
        "templates/d1-template",
        "D1, migrations",
        checks.d1,
        before=(("d1", "migrations", "apply", "DB", "--local"),),
    ),
    Template(
        "chanfana",
        "templates/chanfana-openapi-template",
        "D1, migrations, Hono, Zod",
        checks.openapi_tasks,
        CHANFANA,
        (("d1", "migrations", "apply", "DB", "--local"),),
    ),
    Template(
        "sessions",
        "templates/d1-starter-sessions-api-template",
        "D1 checks.sessions, assets",
        checks.sessions,
        ("durable-utils",),
    ),
    Template("hello-do", "templates/hello-world-do-template", "Durable Object with SQL", checks.hello_object),
    Template("node-server", "templates/nodejs-http-server-template", "node:http", checks.node_server),
    Template(
        "openauth",
        "templates/openauth-template",
        "KV, D1, OpenAuth",
        checks.openauth,
        ("@openauthjs/openauth", "valibot"),
    ),
    Template(
        "chat",
        "templates/durable-chat-template",
        "Durable Object, hibernating WebSockets, assets, a build command",
        checks.chat,
        (*PARTY, "nanoid", "react-router", "esbuild"),
    ),
    Template(
        "globe",
        "templates/multiplayer-globe-template",
        "Durable Object, WebSockets, assets",
        checks.globe,
        (*PARTY, "cobe", "esbuild"),
    ),
    Template(
        "builds",
        "templates/workers-builds-notifications-template",
        "queue consumer, assets",
        checks.builds_notifications,
    ),
    Template(
        "llm-e2e",
        "templates/llm-chat-app-template",
        "assets (its config for tests)",
        checks.e2e_chat,
        options=("-c", "wrangler.e2e.jsonc"),
    ),
    Template(
        "exports",
        f"{FIXTURES}/durable-objects-exports-app",
        "Durable Objects by `exports`, ctx.exports",
        checks.counters,
    ),
    Template(
        "unbound", f"{FIXTURES}/unbound-durable-object", "Durable Object through ctx.exports", checks.unbound_counter
    ),
    Template(
        "no-bundle", f"{FIXTURES}/no-bundle-import", "modules as they are, WebAssembly, CommonJS", checks.not_bundled
    ),
    Template("modules", f"{FIXTURES}/additional-modules", "find_additional_modules, rules", checks.additional_modules),
    Template("wildcard", f"{FIXTURES}/wildcard-modules", "dynamic imports", checks.additional_modules),
    Template("ratelimit", f"{FIXTURES}/ratelimit-app", "rate limits", checks.rate_limits),
    Template("assets-only", f"{FIXTURES}/workers-with-assets-only", "assets alone", checks.assets_only),
    Template(
        "assets", f"{FIXTURES}/workers-with-assets", "assets, binding, a service binding to itself", checks.assets
    ),
    Template(
        "worker-first",
        f"{FIXTURES}/workers-with-assets-run-worker-first",
        "run_worker_first",
        checks.assets_worker_first,
    ),
    Template(
        "static-routing",
        f"{FIXTURES}/workers-with-assets-static-routing",
        "run_worker_first by patterns",
        checks.assets_static_routing,
    ),
    Template("spa", f"{FIXTURES}/workers-with-assets-spa", "single-page application", checks.assets_spa),
    Template("workflow", f"{FIXTURES}/workflow", "Workflows", checks.workflow),
    Template("workflows", f"{FIXTURES}/workflow-multiple", "three Workflows", checks.workflows),
    Template("email", f"{FIXTURES}/email-worker", "send_email", checks.email, ("mimetext",), polyfills=True),
    Template("worker-ts", f"{FIXTURES}/worker-ts", "nothing but code", checks.hello),
    Template(
        "queues-kv",
        f"{FIXTURES}/vitest-plugin-examples/queues",
        "queue, KV",
        checks.queue_to_kv,
    ),
    Template(
        "objects",
        f"{FIXTURES}/vitest-plugin-examples/durable-objects",
        "Durable Objects with and without SQL",
        checks.objects_and_alarms,
    ),
    Template("c3-hello", f"{C3}/hello-world/ts", "nothing but code", checks.hello),
    Template("c3-object", f"{C3}/hello-world-durable-object/js", "Durable Object", checks.says(_="Hello, world!")),
    Template(
        "c3-object-assets",
        f"{C3}/hello-world-durable-object-with-assets/ts",
        "Durable Object, assets",
        checks.object_with_assets,
    ),
    Template("c3-assets", f"{C3}/hello-world-with-assets/ts", "assets", checks.hello_assets),
    Template("c3-workflow", f"{C3}/hello-world-workflows/ts", "Workflow", checks.hello_workflow),
    Template("c3-queues", f"{C3}/queues/ts", "queue", checks.queue),
    Template("c3-scheduled", f"{C3}/scheduled/ts", "cron", checks.scheduled),
)
