// What workerd's own binding of Workflows calls (src/cloudflare/internal/workflows-api.ts). workflows.py answers.

import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
import { fromWire, toWire } from "./wire.js";

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

  async subscribe(...args) {
    const response = await this.#fetch("subscribe", args);
    if (response.headers.get("content-type") !== LINES) return outcome(await response.json());
    return new Subscription(response.body);
  }

  async #ask(method, ...args) {
    return outcome(await (await this.#fetch(method, args)).json());
  }

  #fetch(method, args) {
    const host = this.env[this.ctx.props.service];
    return host.fetch(`http://workflow/${method}`, { method: "POST", body: JSON.stringify(toWire(args, uncloneable)) });
  }
}

const LINES = "application/jsonl";

class Subscription extends RpcTarget {
  #lines;
  #turn = Promise.resolve();
  #last;

  constructor(body) {
    super();
    this.#lines = linesOf(body);
  }

  // Several calls at a time get one event each, in their order.
  next() {
    const following = this.#turn.then(() => this.#next());
    this.#turn = following.catch(() => {});
    return following;
  }

  async #next() {
    if (this.#last) return this.#last;
    const { value } = await this.#lines.next();
    const { isStream, ...given } = outcome(JSON.parse(value));
    if (isStream) given.value.output = new Response(given.value.output).body;
    if (given.done) this.#last = given;
    return given;
  }

  [Symbol.dispose]() {
    this.#lines.return();
  }
}

async function* linesOf(body) {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    yield* lines;
  }
}

function outcome({ value, error }) {
  if (error !== undefined) throw fromWire(error);
  return fromWire(value);
}

// All that is no value has become a stub on its way here.
function uncloneable() {
  throw new DOMException("RpcStub cannot be serialized in this context.", "DataCloneError");
}
