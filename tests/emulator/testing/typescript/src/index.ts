// One of everything that a test can hold.

import { DurableObject, WorkerEntrypoint, WorkflowEntrypoint, WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

export class Room extends DurableObject {}

interface Env {
  COLOUR: string;
  KV: KVNamespace;
  DB: D1Database;
  FILES: R2Bucket;
  JOBS: Queue<string>;
  FLOW: Workflow;
}

const PATIENT = { retries: { limit: 2, delay: "1 hour", backoff: "constant" }, timeout: "1 minute" } as const;

export class Flow extends WorkflowEntrypoint<Env> {
  async run(event: WorkflowEvent<unknown>, step: WorkflowStep) {
    const seen: unknown[] = [];
    for (const name of ["work", "work"]) {
      try {
        seen.push(
          await step.do(name, PATIENT, async () => {
            await this.env.KV.put("worked", "yes");
            return { made: true };
          }),
        );
      } catch (error) {
        seen.push(String(error));
      }
    }
    await step.sleep("rest", "1 day");
    try {
      const answer = await step.waitForEvent("answer", { type: "answer", timeout: "2 days" });
      seen.push(answer.payload);
    } catch (error) {
      seen.push(String(error));
    }
    return seen;
  }
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const query = url.search.slice(1);
    switch (url.pathname) {
      case "/boom":
        throw new RangeError("boom");
      case "/throw":
        throw "no error at all";
      case "/sleep":
        await wait(Number(query));
        return new Response("slept");
      case "/never":
        await new Promise(() => {});
        break;
      case "/later":
        ctx.waitUntil(wait(Number(query)).then(() => env.KV.put("later", "done")));
        return new Response("answered");
      case "/stream": {
        const { readable, writable } = new IdentityTransformStream();
        ctx.waitUntil(trickle(writable));
        return new Response(readable);
      }
      case "/poll": {
        const instance = await env.FLOW.get(query);
        while ((await instance.status()).status !== "complete") await wait(5);
        return new Response("complete");
      }
      case "/out": {
        const response = await fetch(query, { headers: { "x-one": "1" } });
        return new Response(response.body, { status: response.status, headers: { "x-url": response.url } });
      }
      case "/post": {
        const response = await fetch(query, { method: "POST", body: request.body });
        return new Response(await response.text(), { status: response.status });
      }
      case "/socket":
        try {
          await fetch(query, { headers: { upgrade: "websocket" } });
        } catch (error) {
          return new Response(String(error));
        }
        break;
      case "/put":
        try {
          await env.KV.put("put", "value");
          return new Response("put");
        } catch (error) {
          return new Response(String(error));
        }
      case "/send":
        try {
          await env.JOBS.send("x");
          return new Response("sent");
        } catch (error) {
          return new Response(String(error));
        }
      case "/get":
        try {
          return new Response(await env.KV.get("put"));
        } catch (error) {
          return new Response(String(error));
        }
      case "/create":
        try {
          return new Response((await env.FLOW.create({ id: query })).id);
        } catch (error) {
          return new Response(String(error));
        }
      case "/file":
        try {
          await env.FILES.put("file", "content");
          return new Response(await (await env.FILES.get("file"))!.text());
        } catch (error) {
          return new Response(String(error));
        }
      case "/row":
        try {
          return Response.json(await env.DB.prepare("SELECT 1 AS one").first());
        } catch (error) {
          return new Response(String(error));
        }
      case "/echo":
        return new Response(await request.text(), {
          headers: { "x-method": request.method, "x-type": request.headers.get("content-type") ?? "" },
        });
    }
    return new Response(env.COLOUR);
  },

  async queue(batch: MessageBatch<string>, env: Env) {
    for (const message of batch.messages) {
      if (message.body === "ack") message.ack();
      else if (message.body === "retry") message.retry({ delaySeconds: 5 });
      else if (message.body === "raise") throw new TypeError("bad message");
      const seen = (await env.KV.get("seen")) ?? "";
      const body = typeof message.body === "string" ? message.body : JSON.stringify(message.body);
      await env.KV.put("seen", `${seen}${body}${message.attempts} `);
    }
  },

  async scheduled(controller: ScheduledController, env: Env) {
    if (controller.cron === "bad") throw new NonRetryableError("bad cron");
    await env.KV.put("cron", `${controller.cron} ${controller.scheduledTime}`);
  },
} satisfies ExportedHandler<Env, string>;

async function trickle(writable: WritableStream) {
  const writer = writable.getWriter();
  for (const part of ["one ", "two ", "three"]) {
    await writer.write(new TextEncoder().encode(part));
    await wait(5);
  }
  await writer.close();
}
