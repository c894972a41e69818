// entry.py's Worker in JavaScript: a workflow whose params name its shape, one function of this file.
// Where time is to pass, it sleeps: a timer of workerd's would take real time.

import { WorkflowEntrypoint } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { note, Teller } from "./telling.js";

export class Flow extends WorkflowEntrypoint {
  async run(event, step) {
    const tell = new Teller(this.env, event, step);
    await tell.note("runs");
    return await SHAPES[tell.params.shape](tell);
  }
}

export default {
  // As in entry.py.
  async fetch(request, env) {
    const [word, id, ...rest] = new URL(request.url).pathname.split("/").slice(1);
    if (word === "create") await env.FLOW.create({ id, params: { shape: rest[0] } });
    if (word === "send") await (await env.FLOW.get(id)).sendEvent({ type: rest[0], payload: rest[1] });
    if (word === "prepare") await env.DB.exec("CREATE TABLE IF NOT EXISTS effects (nonce TEXT PRIMARY KEY)");
    return new Response("done");
  },

  async queue(batch) {
    for (const message of batch.messages) await note("got", { nonce: message.body });
  },
};

function untilAttempt(wanted) {
  return (attempt) => {
    if (attempt < wanted) throw new Error(`not in attempt ${attempt}`);
  };
}

function never() {
  throw new NonRetryableError("no");
}

// The value, or the error's text.
async function attempted(outcome) {
  try {
    return await outcome;
  } catch (error) {
    return String(error);
  }
}

async function insert(env, nonce) {
  await env.DB.prepare("INSERT INTO effects (nonce) VALUES (?)").bind(nonce).run();
}

async function put(env, nonce) {
  await env.KV.put(nonce, "here");
}

async function send(env, nonce) {
  await env.JOBS.send(nonce);
}

const SHAPES = {
  async steps(tell) {
    const seen = [await tell.do("first"), await tell.do("again", { fail: untilAttempt(3) })];
    seen.push(await attempted(tell.do("final", { fail: never })));
    return [...seen, await tell.do("twice"), await tell.do("twice")];
  },

  async sleeps(tell) {
    const seen = [await tell.do("before")];
    await tell.step.sleep("nap", "1 hour");
    seen.push(await tell.do("between"));
    await tell.step.sleepUntil("morning", new Date("2026-03-01T06:00:00Z"));
    await tell.step.sleep("nap", 1500);
    return [...seen, await tell.do("after")];
  },

  // Two were sent before the first wait, one comes during a wait, one wait times out before its event is sent.
  async events(tell) {
    await tell.step.sleep("while they come", "5 seconds");
    const early = [await tell.wait("early 0", "go"), await tell.wait("early 1", "go")];
    const late = await attempted(tell.wait("late", "late", "10 seconds"));
    return [...early, late, await tell.wait("third", "go"), await tell.wait("late at last", "late")];
  },

  // Waits side by side for one type: each event goes to one of them, in order.
  crowd(tell) {
    const one = async (number) => [await tell.wait(`w${number}`, "go"), await tell.do(`after w${number}`)];
    return Promise.all([0, 1, 2, 3].map(one));
  },

  // Concurrent steps, one of them tried again, and a sleep beside them.
  async side_by_side(tell) {
    const napping = async () => {
      await tell.step.sleep("nap", "3 seconds");
      return await tell.do("after the nap");
    };
    const parts = [0, 1, 2].map((number) => tell.do(`part ${number}`));
    return await Promise.all([...parts, tell.do("flaky", { fail: untilAttempt(2) }), napping()]);
  },

  async effects(tell) {
    const written = [];
    for (const number of [0, 1]) {
      written.push(await tell.do(`row ${number}`, { effect: insert }), await tell.do(`key ${number}`, { effect: put }));
    }
    return written;
  },

  async sending(tell) {
    return [await tell.do("job 0", { effect: send }), await tell.do("job 1", { effect: send })];
  },

  // Steps with few attempts: an interrupted one counts.
  async frugal(tell) {
    const seen = [];
    for (const limit of [0, 1, 0]) {
      const config = { retries: { limit, delay: "1 minute", backoff: "constant" } };
      seen.push(await attempted(tell.do(`limit ${limit}`, { config })));
    }
    return seen;
  },

  // For what is done to an instance meanwhile.
  async plodding(tell) {
    const seen = [await tell.do("one")];
    await tell.step.sleep("nap", "4 seconds");
    seen.push(await tell.do("two"), await tell.wait("word", "word"));
    return [...seen, await tell.do("three")];
  },

  // Steps that are undone, two of them made at a time; the last one fails, and is undone too.
  async saga(tell) {
    const made = (name, how) => {
      const failUndoing = name === tell.params.stuck ? new Error("not undone") : undefined;
      return tell.undoable(name, { failUndoing, ...how });
    };
    await made("one");
    await Promise.all([made("two"), made("three")]);
    await tell.step.sleep("night", "8 hours");
    await tell.do("not to be undone");
    await made("four", { fail: never });
  },

  // Sleeps and waits for so long that it leaves memory.
  async hibernating(tell) {
    const seen = [await tell.do("before")];
    await tell.step.sleep("night", "8 hours");
    for (const name of ["first", "second"]) seen.push(await tell.wait(name, name));
    return [...seen, await tell.do("after")];
  },

  // Makes instances in a step.
  async parent(tell) {
    const before = (env) => env.FLOW.createBatch(["c0", "c1"].map((id) => ({ id, params: { shape: "quick" } })));
    return [await tell.do("creates", { before })];
  },

  async quick(tell) {
    return [await tell.do("only")];
  },

  // A little of everything within a second of real time.
  async hasty(tell) {
    const first = await tell.do("first", { effect: insert });
    await tell.step.sleep("nap", 100);
    const word = await tell.wait("word", "word");
    const parts = await Promise.all([0, 1, 2].map((number) => tell.do(`part ${number}`)));
    const config = { retries: { limit: 40, delay: 50, backoff: "constant" } };
    return [first, word, ...parts, await tell.do("flaky", { fail: untilAttempt(2), config, effect: put })];
  },

  async stepless() {
    return "nothing to record";
  },

  async failing(tell) {
    await tell.do("before");
    throw new Error("the end");
  },
};
