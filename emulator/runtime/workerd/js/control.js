// Takes orders from flarebed and gives them to the user's Workers, by workerd's own calls: one request, one
// conversation, with the Worker that its path names.
//
// `env` has a Worker as "worker:<name>", and its entrypoints as "entrypoint:<name>:<entrypoint>".

import { RpcTarget } from "cloudflare:workers";
import { Conversation } from "./conversation.js";
import { deliver } from "./queues.js";

export { WorkflowBinding } from "./workflows.js";

export { D1Binding } from "./d1.js";

export { Tail } from "./tail.js";

// What a run gets as `step`. Its methods are those of the engine's step object.
class Step extends RpcTarget {
  #ask;

  constructor(ask) {
    super();
    this.#ask = ask;
  }

  // The function of a rollback outlives the call that brought it, of all that calls bring.
  do(...args) {
    const options = args.at(-1);
    const rollback = typeof options === "object" ? options?.rollback : undefined;
    return this.#ask("do", args, rollback);
  }

  sleep(...args) {
    return this.#ask("sleep", args);
  }

  sleepUntil(...args) {
    return this.#ask("sleepUntil", args);
  }

  waitForEvent(...args) {
    return this.#ask("waitForEvent", args);
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
    const ask = (method, args, kept) => this.conversation.call(step, method, args, (value) => value === kept);
    return this.#env[`entrypoint:${this.#name}:${entrypoint}`].run(event, new Step(ask));
  }

  #worker() {
    return this.#env[`worker:${this.#name}`];
  }
}

export default {
  // Without waitUntil: when flarebed hangs up, all of this ends at once, and so does what it has called.
  async fetch(request, env) {
    const [name, what] = new URL(request.url).pathname.slice(1).split("/").map(decodeURIComponent);
    if (what === "queue") return deliver(request, env[`worker:${name}`]);
    const { readable, writable } = new IdentityTransformStream();
    const orders = new Orders(env, name);
    orders.conversation = new Conversation(writable, orders);
    orders.conversation.listen(request.body).catch(() => {});
    return new Response(readable);
  },
};
