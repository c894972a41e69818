"""The Worker that is killed while it consumes queues. A message's first word says what becomes of it:

plain    nothing is said of it: acknowledged if the handler returns
acked    by name
again    comes back twice, after two seconds
poison   never goes well, until it is in the dead letter queue
thrown   the handler raises an exception the first time, after it has acknowledged others
all      the whole batch is to come again the first time
"""

import asyncio
import os
from urllib.parse import urlparse

from telling import note
from workers import Response, WorkerEntrypoint

SECONDS = 0.5


class Default(WorkerEntrypoint):
    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            said = {"message": message.id, "body": message.body, "attempts": message.attempts}
            note(self.env, "got", pid=os.getpid(), queue=batch.queue, **said)
        await asyncio.sleep(SECONDS)
        acked, again, rest, throws, all_again = [], [], [], False, False
        for message in batch.messages:
            match message.body.split("-")[0]:
                case _ if batch.queue == "dead":
                    rest.append(message.id)
                case "again" if message.attempts < 3:
                    message.retry(delaySeconds=2)
                    again.append(message.id)
                case "poison":
                    message.retry()
                    again.append(message.id)
                case "acked" | "again":
                    message.ack()
                    acked.append(message.id)
                case word:
                    throws |= word == "thrown" and message.attempts == 1
                    all_again |= word == "all" and message.attempts == 1
                    rest.append(message.id)
        if all_again:
            batch.retryAll()
        (again if throws or all_again else acked).extend(rest)
        note(self.env, "says", queue=batch.queue, acked=acked, again=again)
        if throws:
            raise ValueError("thrown")

    async def fetch(self, request):
        """For clients over HTTP: /put/<key>/<value>, /insert/<name>/..., /send/<body>/..., /look, /prepare."""
        match urlparse(request.url).path.split("/")[1:]:
            case ["put", key, value]:
                await self.env.KV.put(key, value)
            case ["insert", *names]:
                insert = self.env.DB.prepare("INSERT OR REPLACE INTO facts VALUES (?)")
                await self.env.DB.batch([insert.bind(name) for name in names])
            case ["send", *bodies]:
                await self.env.ORDERS.sendBatch([{"body": body} for body in bodies])
            case ["look"]:
                return Response.json(await self.look())
            case ["prepare"]:
                await self.env.DB.exec("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY)")
        return Response("done")

    async def look(self):
        listed = [key["name"] for key in (await self.env.KV.list())["keys"]]
        rows = (await self.env.DB.prepare("SELECT name FROM facts").all())["results"]
        values = {key: await self.env.KV.get(key) for key in listed}
        return {"listed": listed, "values": values, "contents": [row["name"] for row in rows]}
