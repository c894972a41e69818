// The other end of conversation.py.

import { fromWire, toWire } from "./wire.js";

export class Conversation {
  #writer;
  #encoder = new TextEncoder();
  #count = 0;
  #exports = new Map();
  #waiting = new Map();
  #lines = "";
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
    const reader = readable.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n");
      rest = lines.pop();
      for (const line of lines) this.#heard(JSON.parse(line));
    }
    await this.#end();
  }

  // The same for a conversation that a Worker's call is: it throws, if the other side is gone.
  async listenForAnswers(readable) {
    try {
      await this.listen(readable);
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

  // The answer of the other side's method or, with null in its place, function. It may call those functions among
  // `args` that it `keeps` for as long as this goes on, the others until it has answered.
  call(target, method, args, keeps = () => true) {
    const id = ++this.#count;
    const lent = [];
    const given = toWire(args, (value) => (keeps(value) ? this.#export(value) : this.#lend(value, lent)));
    this.#say({ id, call: [target, method, given] });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, lent }));
  }

  // A number for a function. One that came through a call of workerd's would be over with that call.
  #export(value) {
    this.#shared = true;
    const id = ++this.#count;
    this.#exports.set(id, typeof value.dup === "function" ? value.dup() : value);
    return id;
  }

  #lend(value, lent) {
    const id = ++this.#count;
    this.#exports.set(id, value);
    lent.push(id);
    return id;
  }

  #import = (id) => {
    this.#shared = true;
    return this.#stub((method, args) => this.call(id, method, args));
  };

  #say(line) {
    if (!this.#lines) queueMicrotask(() => this.#send());
    this.#lines += `${JSON.stringify(line)}\n`;
  }

  // Whoever does not listen any more ends this request.
  #send() {
    const lines = this.#lines;
    this.#lines = "";
    this.#writer.write(this.#encoder.encode(lines)).catch(() => {});
  }

  #heard(line) {
    if ("call" in line) {
      this.#answer(line.id, ...line.call);
    } else if ("quiet" in line) {
      this.#quiet(line.quiet);
    } else {
      const { resolve, reject, lent } = this.#waiting.get(line.id);
      this.#waiting.delete(line.id);
      for (const id of lent) this.#exports.delete(id);
      if ("error" in line) reject(fromWire(line.error, this.#import));
      else resolve(fromWire(line.value, this.#import));
    }
  }

  async #answer(id, target, method, args) {
    const said = (value) => toWire(value, (each) => this.#export(each));
    try {
      const called = this.#exports.get(target);
      const values = fromWire(args, this.#import);
      const value = await (method === null ? called(...values) : called[method](...values));
      this.#say({ id, value: said(value) });
      value?.[Symbol.dispose]?.(); // what it holds keeps the Worker's context alive
    } catch (error) {
      this.#say({ id, error: said(error) });
    }
  }

  // A timer fires when all that is ready in this process has been done.
  async #quiet(number) {
    await scheduler.wait(0);
    this.#say({ quiet: number });
  }
}
