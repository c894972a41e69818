"""One of everything that a test can hold."""

import asyncio
import random
import secrets
import uuid
from urllib.parse import urlparse

import httpx
import js
from workers import Response, WorkerEntrypoint, WorkflowEntrypoint, fetch
from workers.workflows import NonRetryableError

PATIENT = {"retries": {"limit": 2, "delay": "1 hour", "backoff": "constant"}, "timeout": "1 minute"}


class Flow(WorkflowEntrypoint):
    async def run(self, event, step):
        seen = []
        for name in ("work", "work"):

            @step.do(name, config=PATIENT)
            async def work():
                await self.env.KV.put("worked", "yes")
                return {"made": True}

            try:
                seen.append(await work())
            except Exception as error:
                seen.append(str(error))
        await step.sleep("rest", "1 day")
        try:
            event = await step.wait_for_event("answer", "answer", timeout="2 days")
            seen.append(event["payload"])
        except Exception as error:
            seen.append(str(error))
        return seen


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlparse(request.url)
        match url.path:
            case "/boom":
                raise ValueError("boom")
            case "/sleep":
                await asyncio.sleep(float(url.query))
                return Response("slept")
            case "/never":
                await asyncio.Future()
            case "/random":
                ids = [str(uuid.uuid4()), js.crypto.randomUUID(), secrets.token_hex(4), random.random()]
                return Response.json(ids)
            case "/out":
                response = await fetch(url.query)
                return Response(await response.text(), status=response.status)
            case "/httpx":
                async with httpx.AsyncClient() as client:
                    response = await client.post(url.query, json={"n": 1})
                return Response(response.text, status=response.status_code)
            case "/httpx-now":
                response = httpx.get(url.query, timeout=2)
                return Response(response.text, status=response.status_code)
            case "/echo":
                headers = {"x-method": request.method.value, "x-type": request.headers.get("content-type") or ""}
                return Response(await request.text(), headers=headers)
        return Response(self.env.COLOUR)

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            match message.body:
                case "ack":
                    message.ack()
                case "retry":
                    message.retry(delaySeconds=5)
                case "raise":
                    raise ValueError("bad message")
            seen = await self.env.KV.get("seen") or ""
            await self.env.KV.put("seen", f"{seen}{message.body}{message.attempts} ")

    async def scheduled(self, controller, env, ctx):
        if controller.cron == "bad":
            raise NonRetryableError("bad cron")
        await self.env.KV.put("cron", f"{controller.cron} {controller.scheduledTime}")
