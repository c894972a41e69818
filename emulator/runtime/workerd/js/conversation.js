// The other end of conversation.py.

import { fromWire, toWire } from "./wire.js";

export class Conversation {
  #writer;
  #encoder = new TextEncoder();
  #count = 0;
  #exports = new Map();
  #waiting = new Map();
  #shared = false;
  #ended = false;
  #stub;

  // `root` has the methods that calls of 0 are for; `stub(call)` makes what stands here for the other side's function.
  constructor(writable, root, stub = (call) => (...args) => call(null, args)) {
    this.#writer = writable.getWriter();
    this.#exports.set(0, root);
    this.#stub = stub;
  }

  // Unless one side has a function of the other's, nothing will be called any more.
  endUnlessShared() {
    if (!this.#shared) this.#end();
  }

  // Until the other side has said all. If it is gone, so is this request.
  async listen(readable) {
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of readable) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop();
        for (const line of lines) this.#heard(JSON.parse(line));
      }
    } finally {
      for (const { reject } of this.#waiting.values()) reject(new Error("Network connection lost."));
      await this.#end();
    }
  }

  async #end() {
    if (this.#ended) return;
    this.#ended = true;
    await this.#writer.close();
  }

  // The answer of the other side's method or, with null in its place, function.
  call(target, method, args) {
    return new Promise((resolve, reject) => {
      const id = ++this.#count;
      this.#waiting.set(id, { resolve, reject });
      this.#say({ id, call: [target, method, args.map((argument) => this.#toWire(argument))] });
    });
  }

  // A number for a function. One that came through a call of workerd's would be over with that call.
  #export(value) {
    this.#shared = true;
    const id = ++this.#count;
    this.#exports.set(id, typeof value.dup === "function" ? value.dup() : value);
    return id;
  }

  #import(id) {
    this.#shared = true;
    return this.#stub((method, args) => this.call(id, method, args));
  }

  #toWire(value) {
    return toWire(value, (exported) => this.#export(exported));
  }

  #fromWire(value) {
    return fromWire(value, (id) => this.#import(id));
  }

  #say(line) {
    return this.#writer.write(this.#encoder.encode(JSON.stringify(line) + "\n"));
  }

  #heard(line) {
    if ("call" in line) {
      this.#answer(line.id, ...line.call);
      return;
    }
    const { resolve, reject } = this.#waiting.get(line.id);
    this.#waiting.delete(line.id);
    if ("error" in line) reject(this.#fromWire(line.error));
    else resolve(this.#fromWire(line.value));
  }

  async #answer(id, target, method, args) {
    try {
      const called = this.#exports.get(target);
      const values = args.map((argument) => this.#fromWire(argument));
      const value = await (method === null ? called(...values) : called[method](...values));
      await this.#say({ id, value: this.#toWire(value) });
    } catch (error) {
      await this.#say({ id, error: this.#toWire(error) });
    }
  }
}
