from urllib.parse import urlparse

from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(str(await self.price(urlparse(request.url).path[1:])))

    async def price(self, item):
        return await self.env.STORE.get(item)

    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            await self.env.STORE.put(message.body["item"], str(message.body["price"]))
