// Takes orders from flarebed and gives them to the user's Workers, by workerd's own calls: one request, one
// conversation, with the Worker that its path names.
//
// `env` has a Worker as "worker:<name>", and its entrypoints as "entrypoint:<name>:<entrypoint>".

import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { Conversation } from "./conversation.js";
import { deliver } from "./queues.js";
import { fromWire, toWire } from "./wire.js";

export { D1Binding } from "./d1.js";

// What a run gets as `step`. Its methods are those of the engine's step object.
class Step extends RpcTarget {
  #conversation;
  #target;

  constructor(conversation, target) {
    super();
    this.#conversation = conversation;
    this.#target = target;
  }

  do(...args) {
    return this.#conversation.call(this.#target, "do", args);
  }

  sleep(...args) {
    return this.#conversation.call(this.#target, "sleep", args);
  }

  sleepUntil(...args) {
    return this.#conversation.call(this.#target, "sleepUntil", args);
  }

  waitForEvent(...args) {
    return this.#conversation.call(this.#target, "waitForEvent", args);
  }
}

// What flarebed calls.
class Orders {
  #env;
  #name;
  conversation;

  constructor(env, name) {
    this.#env = env;
    this.#name = name;
  }

  scheduled(cron, scheduledTime) {
    return this.#worker().scheduled({ cron, scheduledTime });
  }

  run(entrypoint, event, step) {
    return this.#env[`entrypoint:${this.#name}:${entrypoint}`].run(event, new Step(this.conversation, step));
  }

  #worker() {
    return this.#env[`worker:${this.#name}`];
  }
}

// What workerd's own binding of Workflows calls (src/cloudflare/internal/workflows-api.ts).
export class WorkflowBinding extends WorkerEntrypoint {
  getInstance(id) {
    return this.#ask("get", id);
  }

  deleteInstance(id) {
    return this.#ask("delete", id);
  }

  deleteBatch({ instances }) {
    return this.#ask("deleteBatch", instances);
  }

  create(...args) {
    return this.#ask("create", ...args);
  }

  createBatch(...args) {
    return this.#ask("createBatch", ...args);
  }

  pause(...args) {
    return this.#ask("pause", ...args);
  }

  resume(...args) {
    return this.#ask("resume", ...args);
  }

  terminate(...args) {
    return this.#ask("terminate", ...args);
  }

  restart(...args) {
    return this.#ask("restart", ...args);
  }

  status(...args) {
    return this.#ask("status", ...args);
  }

  sendEvent(...args) {
    return this.#ask("sendEvent", ...args);
  }

  async #ask(method, ...args) {
    const host = this.env[this.ctx.props.service];
    const body = JSON.stringify(args.map((argument) => toWire(argument, uncloneable)));
    const response = await host.fetch(`http://workflow/${method}`, { method: "POST", body });
    const { value, error } = await response.json();
    if (error) throw fromWire(error);
    return fromWire(value);
  }
}

function uncloneable(value) {
  throw new DOMException(`${value} could not be cloned.`, "DataCloneError");
}

export default {
  async fetch(request, env, ctx) {
    const [name, what] = new URL(request.url).pathname.slice(1).split("/").map(decodeURIComponent);
    if (what === "queue") return deliver(request, env[`worker:${name}`]);
    const { readable, writable } = new IdentityTransformStream();
    const orders = new Orders(env, name);
    orders.conversation = new Conversation(writable, orders);
    ctx.waitUntil(orders.conversation.listen(request.body));
    return new Response(readable);
  },
};
