// What workerd's own binding of D1 calls where the Worker has the flag d1_binding_jsrpc (src/cloudflare/internal/d1-api.ts).

import { WorkerEntrypoint } from "cloudflare:workers";
import { fromWire, toWire } from "./wire.js";

export class D1Binding extends WorkerEntrypoint {
  // dump() fetches in any case.
  fetch(request) {
    return this.#host().fetch(request);
  }

  async query(request) {
    const body = JSON.stringify(toWire(request, () => 0));
    const response = await this.#host().fetch("http://d1/rpc", { method: "POST", body });
    const { value, error } = await response.json();
    if (error) throw fromWire(error);
    return fromWire(value);
  }

  #host() {
    return this.env[this.ctx.props.service];
  }
}
