// Calls between Workers that are not in one workerd. `Caller` takes those of our Workers out, to the socket that the
// called Worker has in the registry; `Called` answers at such a socket and hands them to one of our Workers.
//
// `env` has the sockets as "peer:<Worker>", and as "workerd" the way to whatever this workerd runs.

import { DurableObject, RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { Conversation } from "./conversation.js";
import { fromWire, toWire } from "./wire.js";

// Whom a request or a conversation is for; peers.py has the same names.
const TARGET = "flarebed-target";
// What the called Worker threw instead of answering a request.
const THROWN = "flarebed-thrown";
// What workerd asks an entrypoint for without anybody having called it.
const EVENTS = new Set([
  "alarm", "connect", "email", "tail", "tailStream", "test", "trace", "webSocketClose", "webSocketError",
  "webSocketMessage",
]);
// https://developers.cloudflare.com/workers/runtime-apis/rpc/reserved-methods/
const RESERVED = new Set(["constructor", "dup", "then"]);

// With props {service, entrypoint, props}: whatever is asked of it, the entrypoint of that Worker is asked.
export class Caller extends WorkerEntrypoint {
  constructor(ctx, env) {
    super(ctx, env);
    return standIn(this, new Line(ctx, env, ctx.props));
  }
}

// A class whose objects stand for those of a Worker elsewhere, with the same ids.
export function objectsOf(service, className, process) {
  return class extends DurableObject {
    constructor(ctx, env) {
      super(ctx, env);
      const target = { service, entrypoint: className, object: ctx.id.toString(), from: process };
      return standIn(this, new Line(ctx, env, target));
    }
  };
}

function standIn(own, line) {
  return new Proxy(own, {
    get(_own, name) {
      if (name === "fetch") return (request) => line.fetch(request);
      if (typeof name !== "string" || EVENTS.has(name)) return Reflect.get(own, name);
      return callable([name], (path, args) => line.call(path, args));
    },
  });
}

// The way to one entrypoint.
class Line {
  #ctx;
  #peer;
  #running;
  #target;
  #service;

  constructor(ctx, env, { service, ...target }) {
    this.#ctx = ctx;
    this.#service = service;
    this.#peer = env[`peer:${service}`];
    this.#running = env.running;
    this.#target = target;
  }

  async fetch(request) {
    const headers = new Headers(request.headers);
    headers.set(TARGET, ascii({ ...this.#target, url: request.url }));
    try {
      return await this.#ask(new Request(request, { headers }));
    } catch (error) {
      if (error instanceof NotRunning) return new Response(error.message, { status: 503 });
      throw error;
    }
  }

  // A conversation for one call, which goes on for as long as one side has a function of the other.
  async call(path, args) {
    const { readable, writable } = new IdentityTransformStream();
    const conversation = new Conversation(writable, undefined, stub);
    const answer = conversation.call(0, "call", [path, args]);
    answer.catch(() => {});
    const headers = { [TARGET]: ascii({ ...this.#target, rpc: true }) };
    const response = await this.#ask("http://rpc/", { method: "POST", headers, body: readable });
    this.#ctx.waitUntil(conversation.listenForAnswers(response.body));
    try {
      return await answer;
    } finally {
      conversation.endUnlessShared();
    }
  }

  async #ask(...request) {
    let response;
    try {
      response = await this.#peer.fetch(...request);
    } catch (error) {
      const running = await this.#running.fetch(`http://running/${encodeURIComponent(this.#service)}`);
      if (running.status === 200) throw error;
      throw new NotRunning(this.#service);
    }
    const thrown = response.headers.get(THROWN);
    if (thrown !== null) throw fromWire(JSON.parse(thrown));
    return response;
  }
}

class NotRunning extends Error {
  constructor(service) {
    super(`Worker "${service}" not found. Make sure it is running locally.`);
    this.name = "Error";
  }
}

// With props {service}: answers for the Worker that this workerd runs as `service`.
export class Called extends WorkerEntrypoint {
  async fetch(request) {
    const target = JSON.parse(request.headers.get(TARGET) ?? "{}");
    const called = this.#called(target);
    if (target.rpc) return this.#converse(called, request);
    const headers = new Headers(request.headers);
    headers.delete(TARGET);
    try {
      return await called.fetch(new Request(target.url ?? request.url, new Request(request, { headers })));
    } catch (error) {
      return new Response(null, { status: 500, headers: { [THROWN]: ascii(toWire(error)) } });
    }
  }

  #called({ entrypoint, props, object }) {
    const { service } = this.ctx.props;
    const workerd = this.env.workerd.current();
    return object
      ? workerd.getActor(service, entrypoint, object)
      : workerd.getEntrypoint(service, entrypoint ?? undefined, props ?? undefined);
  }

  #converse(called, request) {
    const { readable, writable } = new IdentityTransformStream();
    const conversation = new Conversation(writable, new Callee(called), stub);
    this.ctx.waitUntil(conversation.listenForAnswers(request.body));
    return new Response(readable);
  }
}

// What the other side calls.
class Callee {
  #called;

  constructor(called) {
    this.#called = called;
  }

  call(path, args) {
    const names = [...path];
    const method = names.pop();
    const owner = names.reduce((value, name) => value[name], this.#called);
    return owner[method](...args);
  }
}

// A function of the other side, or an object with methods: `call(method, args)` with null in place of the method.
function stub(call) {
  return callable([], (path, args) => call(path[0] ?? null, args));
}

// What can be called, and has whatever method is called. workerd takes it for an RpcTarget, by its prototype.
function callable(path, call) {
  return new Proxy(() => {}, {
    apply: (_function, _this, args) => call(path, args),
    get: (_function, name) => (typeof name === "string" && !RESERVED.has(name) ? callable([...path, name], call) : undefined),
    getOwnPropertyDescriptor: () => undefined,
    getPrototypeOf: () => RpcTarget.prototype,
  });
}

// JSON that a header can hold.
function ascii(value) {
  return JSON.stringify(value).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
