"""The requests that show whether a project of `template_list.py` works.

Answers are those that the project's own tests ask for, where it has tests.
"""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from websockets.sync.client import connect

from examples import expect

_PATIENCE_S = 15


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


class Site:
    """A project that is being served; `log()` is what `flarebed dev` has written."""

    def __init__(self, port: int, log: Callable[[], str]) -> None:
        self.port = port
        self.log = log
        self._opener = urllib.request.build_opener(_NoRedirects)

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, fields, method=method)
        try:
            response = self._opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            return Answer(response.status, response.headers, response.read())

    def text(self, path: str) -> str:
        answer = self.ask(path)
        expect(answer.status, 200)
        return answer.text

    def until(self, path: str, holds: Callable[[Any], bool]) -> Any:
        """The JSON of `path` as soon as it `holds`."""
        end_s = time.monotonic() + _PATIENCE_S
        while not holds(found := self.ask(path).json):
            if time.monotonic() > end_s:
                raise AssertionError(f"{path} is still {found!r}")
            time.sleep(0.1)
        return found

    def wait_for_log(self, pattern: str) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        while not re.search(pattern, self.log()):
            if time.monotonic() > end_s:
                raise AssertionError(f"{pattern} is not in the log")
            time.sleep(0.1)


def contains(text: str, part: str) -> None:
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text[:500]!r}")


def says(**answers: str) -> Callable[[Site], None]:
    """A check that paths (with _ for /) have these answers."""

    def check(site: Site) -> None:
        for path, answer in answers.items():
            expect(site.text("/" + path.replace("_", "/").lstrip("/")), answer)

    return check


# github.com/cloudflare/templates


def d1(site: Site) -> None:
    contains(site.text("/"), "Congrats!")
    contains(site.text("/"), "Keep up the good work!")


def openapi_tasks(site: Site) -> None:
    contains(site.text("/"), "swagger")
    expect(site.ask("/tasks").json["result"], [])
    task = {
        "name": "New Task", "slug": "new-task", "description": "A brand new task", "completed": False,
        "due_date": "2025-12-31T23:59:59.000Z",
    }  # fmt: skip
    made = site.ask("/tasks", "POST", task, content_type="application/json")
    expect((made.status, made.json["result"]), (201, {"id": 1, **task}))
    expect(site.ask("/tasks/1").json, {"success": True, "result": {"id": 1, **task}})
    expect(site.ask("/tasks", "POST", {"description": "x"}, content_type="application/json").status, 400)
    expect(site.ask("/tasks/9999").status, 404)
    dummy = site.ask("/dummy/a-slug", "POST", {"name": "N"}, content_type="application/json").json
    expect(dummy["result"], {"msg": "this is a dummy endpoint, serving as example", "slug": "a-slug", "name": "N"})


def sessions(site: Site) -> None:
    contains(site.text("/"), "<title>")
    order = {"customerId": "c", "orderId": "o", "quantity": 2}
    answer = site.ask("/api/orders", "POST", order)
    expect(answer.json["results"], [order])
    expect(bool(answer.headers["x-d1-bookmark"]), True)
    expect(site.ask("/api/orders", x_d1_bookmark=answer.headers["x-d1-bookmark"]).json["results"], [order])


def hello_object(site: Site) -> None:
    expect(site.text("/"), "Hello, World!")


def node_server(site: Site) -> None:
    expect(site.text("/"), "<h1>Welcome to my Node.js app on Workers!</h1>")
    expect(site.ask("/api/status").json["status"], "ok")
    expect((site.ask("/x").status, site.ask("/x").text), (404, "Not Found"))


def openauth(site: Site) -> None:
    answer = site.ask("/")
    expect(answer.status, 302)
    contains(answer.headers["location"], "/authorize?redirect_uri=")
    path = "/authorize" + answer.headers["location"].partition("/authorize")[2]
    expect(site.ask(path).status, 302)
    contains(site.ask("/password/register").text, "myAuth")
    expect(site.ask("/callback?code=1").json, {"message": "OAuth flow complete!", "params": {"code": "1"}})


def chat(site: Site) -> None:
    contains(site.text("/"), "<title>")
    contains(site.text("/any/page"), "<title>")
    expect(site.ask("/dist/index.js").status, 200)
    url = f"ws://127.0.0.1:{site.port}/parties/chat/room"
    message = {"type": "add", "id": "1", "content": "hello", "user": "me", "role": "user"}
    with connect(url) as one, connect(url) as other:
        expect(json.loads(one.recv(10)), {"type": "all", "messages": []})
        expect(json.loads(other.recv(10)), {"type": "all", "messages": []})
        one.send(json.dumps(message))
        expect(json.loads(other.recv(10)), message)
    with connect(url) as later:
        expect(json.loads(later.recv(10)), {"type": "all", "messages": [message]})


def globe(site: Site) -> None:
    contains(site.text("/"), "Globe")
    expect(site.ask("/dist/index.js").status, 200)
    with connect(f"ws://127.0.0.1:{site.port}/parties/globe/default") as visitor:
        expect(json.loads(visitor.recv(10))["type"], "add-marker")


def builds_notifications(site: Site) -> None:
    contains(site.text("/"), "<title>")


def e2e_chat(site: Site) -> None:
    contains(site.text("/"), "<title>")
    expect(site.ask("/chat.js").status, 200)


# github.com/cloudflare/workers-sdk, fixtures and packages/create-cloudflare


def counters(site: Site) -> None:
    for path, value in {"/a": 0, "/a/increment": 1, "/b": 0, "/b/increment": 1, "/c": 0, "/c/increment": 1}.items():
        expect(site.ask(path).json, {"value": value})
    expect(site.ask("/a/increment").json, {"value": 2})
    for scope in "abc":
        expect(site.ask(f"/{scope}/sqlite-check").json, {"ok": 1})


def unbound_counter(site: Site) -> None:
    expect(site.text("/?name=n"), "count: 0")
    expect(site.text("/increment?name=n"), "count: 1")


def not_bundled(site: Site) -> None:
    expect(site.text("/"), "Hello Jane Smith and Hello John Smith")
    expect(site.text("/cjs"), "CJS: Hello Jane Smith and Hello John Smith")
    expect(site.text("/cjs-loop"), "CJS: cjs-string")
    expect(site.text("/dynamic"), "dynamic")
    expect(site.text("/wasm"), "42")
    expect(site.text("/wasm-nested"), "nested42")
    expect(site.text("/wasm-dynamic"), "sibling42subdirectory42")
    expect(site.text("/txt"), "TEST DATA")
    expect(site.ask("/bin").body, bytes([0, 1, 2, 10]))
    expect(site.text("/lang/fr.json"), "Bonjour")


def additional_modules(site: Site) -> None:
    modules = {"/dep": "bundled", "/text": "test\n", "/dynamic": "dynamic", "/common": "common", "/lang/fr": "bonjour"}
    for path, text in modules.items():
        expect(site.text(path), text)


def rate_limits(site: Site) -> None:
    left_s = 60 - time.time() % 60
    if left_s < 5:  # so that all is counted in one window
        time.sleep(left_s)
    expect([site.ask("/").text for _ in range(4)], ["Success", "Success", "Success", "Slow down"])
    answers = [site.ask("/unsafe").text for _ in range(3)]
    expect(answers, ["unsafe: Success", "unsafe: Success", "unsafe: Slow down"])


def assets_only(site: Site) -> None:
    contains(site.text("/"), "<h1>Hello Workers + Assets World 🚀!</h1>")
    expect(site.ask("/index.html").headers["location"], "/")
    expect((site.ask("/hello.html").status, site.ask("/hello.txt").status), (404, 404))
    expect(site.ask("/README.md").headers["content-type"], "text/markdown; charset=utf-8")
    expect(site.ask("/lava-lamps.jpg").headers["content-type"], "image/jpeg")
    expect([site.ask("/index.html", method).status for method in ("POST", "PUT", "DELETE", "PATCH")], [405] * 4)


def assets(site: Site) -> None:
    contains(site.text("/about/"), "<p>Learn more about Workers with Assets soon!</p>")
    contains(site.text("/no-assets-here"), "There were no assets at this route! Hello from the user Worker instead!")
    expect("content-type" in site.ask("/totallyinvalidextension.greg").headers, False)
    contains(site.text("/about/%5Bf%C3%BCnky%5D.txt"), "This should work.")
    contains(site.text("/assets-binding"), "binding")
    expect(site.text("/named-entrypoint"), "hello from a named entrypoint")


def assets_worker_first(site: Site) -> None:
    expect(site.ask("/").status, 403)
    contains(site.ask("/", authorization="some").text, "<h1>Hello Workers + Assets World 🚀!</h1>")


def assets_static_routing(site: Site) -> None:
    contains(site.text("/worker/worker-runs"), "(and was intercepted by the User Worker)")
    expect(site.ask("/missing-asset").status, 404)
    contains(site.text("/worker/asset"), "I'm an asset")
    expect("intercepted" in site.text("/worker/asset"), False)


def assets_spa(site: Site) -> None:
    contains(site.text("/"), "<title>")
    expect(site.ask("/api/math").status, 200)
    contains(site.ask("/blog/random", sec_fetch_mode="navigate").text, "<title>")


def workflow(site: Site) -> None:
    site.ask("/create?workflowName=test")
    done = site.until("/status?workflowName=test", lambda status: status["status"] == "complete")
    expect(done["output"], {})


def workflows(site: Site) -> None:
    for number in "12":
        site.ask(f"/create?workflowName={number}&id=test")
    for number in "12":
        path = f"/status?workflowName={number}&id=test"
        done = site.until(path, lambda answer: answer["status"]["status"] == "complete")
        expect(done["status"]["output"], f"i'm workflow{number}")


def email(site: Site) -> None:
    for path in ("/send", "/send-simple", "/send-html", "/send-attachment"):
        contains(site.text(path), "sent!")
    site.wait_for_log("Subject: Simple MessageBuilder Test")


def hello(site: Site) -> None:
    expect(site.text("/"), "Hello World!")


def object_with_assets(site: Site) -> None:
    contains(site.text("/"), "<title>")
    expect(site.text("/any"), "Hello, world!")


def hello_assets(site: Site) -> None:
    contains(site.text("/"), "<title>")
    expect(site.text("/message"), "Hello, World!")
    expect(len(site.text("/random")), 36)


def hello_workflow(site: Site) -> None:
    instance = site.ask("/").json["id"]
    path = f"/?instanceId={instance}"
    site.until(path, lambda answer: answer["status"]["status"] in ("running", "waiting"))


def queue(site: Site) -> None:
    expect(site.text("/"), "Sent message to the queue")
    site.wait_for_log(r'message [0-9a-f]+ processed: \{"url":')


def queue_to_kv(site: Site) -> None:
    expect(site.ask("/key", "POST", b"value").status, 202)
    end_s = time.monotonic() + _PATIENCE_S
    while site.ask("/key").status != 200 and time.monotonic() < end_s:
        time.sleep(0.1)
    expect(site.text("/key"), "VALUE")


def scheduled(site: Site) -> None:
    contains(site.text("/"), "To test the scheduled handler")
    site.ask("/cdn-cgi/local/scheduled?cron=*+*+*+*+*")
    site.wait_for_log(
        r"trigger fired at \* \* \* \* \*: (success|fail)|at async Object.scheduled"
    )  # it asks the internet


def hono_message(site: Site) -> None:
    contains(site.text("/"), "<title>")
    expect(site.text("/message"), "Hello Hono!")


def objects_and_alarms(site: Site) -> None:
    expect([site.text("/path"), site.text("/path"), site.text("/other")], ["1", "2", "1"])
    expect(int(site.text("/sql")) > 0, True)


def logs(site: Site) -> None:
    site.ask("/?mode=log")
    site.wait_for_log("<<<<<this is a log>>>>>|log")
