// Gives a batch of queues.py to the Worker's `queue` handler.

import { fromWire } from "./wire.js";

// What follows the kind of a body.
const BODIES = {
  json: (body) => ({ body }),
  bytes: (body) => ({ body: Uint8Array.fromBase64(body) }),
  v8: (body) => ({ serializedBody: Uint8Array.fromBase64(body) }),
  wire: (body) => ({ body: fromWire(body) }),
};

// The answer is workerd's own (FetcherQueueResult).
export async function deliver(request, worker) {
  const { queue, metadata, messages } = await request.json();
  const { metrics } = metadata;
  metrics.oldestMessageTimestamp = new Date(metrics.oldestMessageTimestamp);
  const batch = messages.map(([id, sent, attempts, kind, body]) => ({
    id,
    timestamp: new Date(sent),
    attempts,
    ...BODIES[kind](body),
  }));
  return Response.json(await worker.queue(queue, batch, metadata));
}
