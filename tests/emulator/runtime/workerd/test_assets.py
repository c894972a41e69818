"""Static assets before a JavaScript Worker, and by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.served import Served, served

from flarebed.bindings.errors import UserError

WORKER = """
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/first")) return new Response("the Worker: " + (await env.FILES.fetch(request)).status);
    return new Response("the Worker: " + pathname, { status: 404 });
  },
};
"""
FILES = {
    "index.html": "<h1>home</h1>",
    "about.html": "about",
    "folder/index.html": "folder",
    "first.txt": "first",
    "secret.txt": "hidden",
    "404.html": "lost",
    "_headers": "/about\n  X-From: _headers\n",
    "_redirects": "/old/* /about 301\n",
    ".assetsignore": "secret.txt\n",
}


def project_in(folder: Path, assets: dict[str, Any], **config: Any) -> Path:
    for name, text in FILES.items():
        path = folder / "public" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "index.js").write_text(WORKER)
    settings = {"name": "site", "compatibility_date": "2026-11-01", "assets": {"directory": "public", **assets}}
    (folder / "wrangler.json").write_text(json.dumps({**settings, **config}))
    return folder


async def shown(project: Served, path: str, **headers: str) -> tuple[int, str]:
    answer = await project.get(path, **headers)
    return answer.status, (answer.header("location") or [answer.text])[0]


async def test_a_worker_with_assets(tmp_path: Path) -> None:
    folder = project_in(tmp_path, {"binding": "FILES", "run_worker_first": ["/first*"]}, main="index.js")
    async with served(folder, folder / "state") as project:
        about = await project.get("/about")
        assert (about.status, about.text, about.header("x-from")) == (200, "about", ["_headers"])
        assert about.header("content-type") == ["text/html; charset=utf-8"]
        assert about.header("cache-control") == ["public, max-age=0, must-revalidate"]
        assert (await project.get("/about", if_none_match=about.header("etag")[0])).status == 304
        assert await shown(project, "/") == (200, "<h1>home</h1>")
        assert await shown(project, "/about.html") == (307, "/about")
        assert await shown(project, "/folder") == (307, "/folder/")
        assert await shown(project, "/old/page") == (301, "/about")
        assert await shown(project, "/secret.txt") == (404, "the Worker: /secret.txt")
        assert await shown(project, "/_headers") == (404, "the Worker: /_headers")
        assert await shown(project, "/first.txt") == (200, "the Worker: 200")
        assert (await project.post("/about", "")).status == 405
        (folder / "public/new.txt").write_text("new")
        assert await shown(project, "/new.txt") == (200, "new")
        watched = {path.name for path in project.app.watched()}
        assert {"index.js", "_headers", "_redirects", ".assetsignore"} <= watched


@pytest.mark.parametrize(
    ("handling", "missing"),
    [({}, (404, "")), ({"not_found_handling": "404-page"}, (404, "lost")),
     ({"not_found_handling": "single-page-application"}, (200, "<h1>home</h1>"))],
)  # fmt: skip
async def test_nothing_but_assets(tmp_path: Path, handling: dict[str, str], missing: tuple[int, str]) -> None:
    folder = project_in(tmp_path, handling)
    async with served(folder, folder / "state") as project:
        assert await shown(project, "/folder/") == (200, "folder")
        assert await shown(project, "/nothing") == missing


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    folder = project_in(tmp_path, {"directory": "missing"})
    with pytest.raises(UserError) as raised:
        async with served(folder, folder / "state"):
            pass
    assert raised.value.message == (
        'The directory specified by the "assets.directory" field in your configuration file does not exist:\n'
        f"{folder / 'missing'}"
    )
