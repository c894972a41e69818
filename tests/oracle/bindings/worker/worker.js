// Asks KV, D1 and Queues: each request is a question (questions/). It runs on wrangler and, as it is, on flarebed, where
// worker.py plays the same questions; only whose time it is (clock.js) differs.
import { nowMs, pause } from "./clock.js";
import { revive, shown, thrownText } from "./values.js";

const PATIENCE_S = 20;
const POLL_S = 0.02;
const plays = new Map(); // by the name of the queue that a question has to itself

class Play {
  // `names` has this question's bindings: {KV, DB, Q?}.
  constructor(env, { question, names }, startMs) {
    this.question = question;
    this.env = env;
    this.names = names;
    this.made = {};
    this.delivered = [];
    this.startMs = startMs;
  }

  makers = { $chain: (chain) => this.follow(chain), $ahead: (seconds) => Math.floor(this.startMs / 1000) + seconds };

  value = (given) => revive(given, this.makers);

  // [what, [method, ...arguments] | "property", ...]
  follow([what, ...links]) {
    let at = what in this.made ? this.made[what] : this.env[this.names[what]];
    for (const link of links) {
      if (typeof link === "string") at = at[link];
      else at = at[link[0]](...link.slice(1).map(this.value));
    }
    return at;
  }

  async ask([what, ...rest]) {
    if (what === "wait") return void (await pause(rest[0]));
    if (what === "until") return this.until(rest[0]);
    if (what === "quietly") return void (await this.follow(rest));
    if (what === "let") return void (this.made[rest[0]] = await this.follow(rest.slice(1)));
    return this.follow([what, ...rest]);
  }

  // Until so many batches were delivered.
  async until(batches) {
    for (let waitedS = 0; this.delivered.length < batches && waitedS < PATIENCE_S; waitedS += POLL_S) await pause(POLL_S);
    return this.delivered.length;
  }

  async consume(batch, context) {
    const place = this.delivered.length;
    const messages = [];
    const said = [];
    const seen = { queue: batch.queue, messages, said };
    this.delivered.push(seen);
    for (const { id, timestamp, attempts, body } of batch.messages) messages.push(await shown({ id, timestamp, attempts, body }));
    if (this.question.timed) seen.second = Math.round(((await nowMs()) - this.startMs) / 1000);
    if (this.question.metrics) seen.metadata = await shown(batch.metadata);
    const turns = batch.queue.endsWith("-dead") ? [[]] : (this.question.handler ?? [[]]);
    for (const [verb, ...rest] of turns[Math.min(place, turns.length - 1)]) {
      if (verb === "throw") throw new Error(rest[0]);
      if (verb === "fail later") context.waitUntil(failLater(rest[0]));
      else said.push(await tried(() => this.say(batch, verb, rest)));
    }
  }

  // `acks` and `retries` are of the message at a place in the batch.
  say(batch, verb, rest) {
    if (verb === "ack") return batch.messages[rest[0]]?.ack();
    if (verb === "retry") return batch.messages[rest[0]]?.retry(...rest.slice(1).map(this.value));
    return batch[verb](...rest.map(this.value));
  }
}

// In the machine's time: no other wait of a question depends on it.
async function failLater(text) {
  await scheduler.wait(50);
  throw new Error(text);
}

async function tried(act) {
  try {
    return await shown(await act());
  } catch (error) {
    return thrown(error);
  }
}

async function thrown(error) {
  if (!(error instanceof Error)) return { throws: thrownText(error) };
  const { constructor, cause, name } = error;
  return {
    throws: thrownText(error),
    ...(constructor.name === name ? {} : { class: constructor.name }),
    ...(cause === undefined ? {} : { cause: cause instanceof Error ? thrownText(cause) : await shown(cause) }),
    ...(Object.keys(error).length ? { own: await shown({ ...error }) } : {}),
  };
}

export default {
  async fetch(request, env) {
    const asked = await request.json();
    const play = new Play(env, asked, await nowMs());
    if (asked.names.Q) plays.set(asked.names.Q, play);
    const answers = [];
    for (const op of asked.question.ask) answers.push(await tried(() => play.ask(op)));
    const delivered = asked.names.Q ? { delivered: play.delivered } : {};
    return Response.json({ start_s: Math.floor(play.startMs / 1000), asked: answers, ...delivered });
  },
  async queue(batch, env, context) {
    await plays.get(batch.queue.replace("-dead", ""))?.consume(batch, context);
  },
};
