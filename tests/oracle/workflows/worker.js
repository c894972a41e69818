// Asks wrangler's workflow engine: each request is a question (questions/), played here as ours.py plays it on our engine.
import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { nowMs, pause } from "./clock.js";
import { revive, shown, thrownText } from "./values.js";

const POLL_S = 0.025;
const PATIENCE_MS = 6_000;
const plays = new Map(); // by instance id: the question, what its run() noted, the gates that are open
const BUILT_IN = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };

function errorOf([name, message = ""]) {
  if (name === "NonRetryableError") return new NonRetryableError(message);
  if (name === "AggregateError") return new AggregateError([new Error("one")], message);
  if (name.startsWith("DOM:")) return new DOMException(message, name.slice(4));
  if (name in BUILT_IN) return new BUILT_IN[name](message);
  return Object.assign(new Error(message), { name });
}

class Play {
  constructor(question, id) {
    this.question = question;
    this.id = id;
    this.notes = [];
    this.open = new Set();
    this.held = null;
    this.eventIds = [];
    this.nowMs = 0;
  }

  value = (given) =>
    revive(given, {
      $id: (suffix) => this.id + suffix,
      $calls: (behaviours) => this.callback(behaviours),
      $ahead: (ms) => new Date(this.nowMs + ms),
      $aheadMs: (ms) => this.nowMs + ms,
    });

  callback(behaviours) {
    let calls = 0;
    return async (argument) => {
      const does = behaviours[Math.min(calls, behaviours.length - 1)];
      calls += 1;
      if ("note" in does) this.notes.push([does.note, await shown(argument)]);
      if ("gate" in does) await this.gate(does.gate);
      if ("hang" in does) await pause(does.hang / 1000);
      if ("steps" in does) for (const op of does.steps) await this.tried(this.step, op);
      if ("throw" in does) throw errorOf(does.throw);
      return this.value(does.return);
    };
  }

  async gate(name) {
    while (!this.open.has(name)) await pause(POLL_S);
  }

  async tried(step, op) {
    try {
      this.notes.push(await shown(await this.act(step, op)));
    } catch (error) {
      this.notes.push({ throws: thrownText(error) });
    }
  }

  async act(step, [name, ...args]) {
    if (JSON.stringify(args).includes("$ahead")) this.nowMs = await nowMs();
    if (name === "must") return shown(await this.act(step, args[0])).then((seen) => void this.notes.push(seen));
    if (name === "all") return void (await Promise.all(args.map((op) => this.tried(step, op))));
    if (name === "gate") return this.gate(args[0]);
    return step[name](...args.map(this.value));
  }

  async run(event, step) {
    this.step = step;
    for (const op of this.question.run) {
      if (op[0] === "event") this.notes.push(await shown(event));
      else if (op[0] === "throw") throw errorOf(op[1]);
      else if (op[0] === "return") return this.value(op[1]);
      else if (op[0] === "must") await this.act(step, op);
      else await this.tried(step, op);
    }
  }

  async ask(env, [name, ...args]) {
    if (name === "open") return void this.open.add(args[0]);
    if (name === "wait") return void (await pause(args[0] / 1000));
    if (name === "until") return this.until(env, args);
    if (name === "notes") return JSON.parse(JSON.stringify(this.notes));
    if (name === "hold") return void (this.held = await env.FLOW.get(this.id));
    if (name === "held") return this.held[args[0]](...args.slice(1).map(this.value));
    if (name === "on") return (await env.FLOW.get(this.id + args[0]))[args[1]](...args.slice(2).map(this.value));
    if (name === "subscribe" || name === "after") return this.subscribe(env, name === "after", args);
    if (["create", "createBatch", "get", "deleteBatch"].includes(name)) {
      const given = await env.FLOW[name](...args.map(this.value));
      return handles(given);
    }
    return (await env.FLOW.get(this.id))[name](...args.map(this.value));
  }

  async until(env, wanted) {
    let seen = "";
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += POLL_S * 1000) {
      seen = (await (await env.FLOW.get(this.id)).status()).status;
      if (wanted.includes(seen)) return seen;
      await pause(POLL_S);
    }
    return `still ${seen}`;
  }

  // Of `after`, the first argument says after which event (by its place in what `subscribe` gave).
  async subscribe(env, after, [place, options, most]) {
    if (!after) [options, most] = [place, options];
    const given = this.value(options);
    if (after) given.cursor = this.eventIds[place];
    const subscription = await (await env.FLOW.get(this.id)).subscribe(...(given === null ? [] : [given]));
    const events = [];
    const ids = [];
    while (events.length < most) {
      const late = pause(3).then(() => ({ done: "late" }));
      late.catch(() => {});
      const next = await Promise.race([subscription.next(), late]);
      if (next.done) {
        events.push(next.done === true ? "end" : "nothing more");
        break;
      }
      const { instanceId, eventId, timestamp, ...told } = next.value;
      ids.push(eventId);
      events.push(told);
    }
    if (!after) this.eventIds = ids;
    return events;
  }
}

// What create() and its like give, without the methods.
function handles(given) {
  if (Array.isArray(given)) return given.map(handles);
  if (given && Array.isArray(given.created)) return { ...given, created: given.created.map(handles) };
  return given && typeof given.sendEvent === "function" ? given.id : given;
}

export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    const play = plays.get(event.instanceId) ?? plays.get(event.instanceId.replace(/zz.*$/, "zz"));
    return play.run(event, step);
  }
}

export default {
  async fetch(request, env) {
    const { question, id } = await request.json();
    const play = new Play(question, id);
    plays.set(id, play);
    const answers = [];
    for (const op of question.ask) {
      try {
        answers.push(await shown(await play.ask(env, op)));
      } catch (error) {
        answers.push({ throws: thrownText(error) });
      }
    }
    return Response.json({ asked: answers, run: play.notes });
  },
};
