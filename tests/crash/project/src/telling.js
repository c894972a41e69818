// What the shapes of flow.js and keeper.js are told with. A note goes to whoever plays the scenario (workerd_life.py),
// by a request to the world: it is on disk before the Worker goes on.

export async function note(what, fields) {
  await (await fetch("http://notes/", { method: "POST", body: JSON.stringify({ is: what, ...fields }) })).text();
}

// So many attempts that interrupted ones don't use them up.
export const PATIENT = { retries: { limit: 40, delay: "1 second", backoff: "constant" } };

export class Teller {
  #counts = new Map();

  constructor(env, event, step) {
    this.env = env;
    this.event = event;
    this.step = step;
    this.params = event.payload;
  }

  note(what, fields) {
    return note(what, { id: this.event.instanceId, ...fields });
  }

  // A step whose result nobody could make again. `fail(attempt)` throws; `effect` leaves the nonce.
  do(name, { fail, effect, before, config = PATIENT } = {}) {
    const count = this.#count(`do ${name}`);
    const made = this.step.do(name, config, async ({ attempt }) => {
      const value = { step: name, nonce: crypto.randomUUID() };
      await this.note("begins", { name, count, attempt, limit: config.retries.limit });
      await before?.(this.env, value.nonce);
      await effect?.(this.env, value.nonce);
      fail?.(attempt);
      await this.note("returns", { name, count, value, effect: effect?.name ?? null });
      return value;
    });
    return this.#seen("do", name, count, made);
  }

  // A step with a rollback, which notes what it is given.
  undoable(name, { fail, failUndoing } = {}) {
    const count = this.#count(`do ${name}`);
    const callback = async ({ attempt }) => {
      const value = `${name} ${crypto.randomUUID()}`;
      await this.note("begins", { name, count, attempt, limit: PATIENT.retries.limit });
      fail?.(attempt);
      await this.note("returns", { name, count, value, effect: null });
      return value;
    };
    const rollback = async ({ stepName, output = null }) => {
      const said = { kind: "rollback", name: stepName, count: 1 };
      await this.note("begins", { attempt: null, limit: null, undoes: [name, count], output, ...said });
      if (failUndoing) throw failUndoing;
      await this.note("returns", { value: null, effect: null, ...said });
    };
    const rollbackConfig = failUndoing ? { retries: { limit: 1, delay: 1000 } } : PATIENT;
    return this.#seen("do", name, count, this.step.do(name, PATIENT, callback, { rollback, rollbackConfig }));
  }

  // The payload of an event.
  wait(name, type, timeout = "30 days") {
    const payload = this.step.waitForEvent(name, { type, timeout }).then((event) => event.payload);
    return this.#seen("wait", name, this.#count(`wait ${name}`), payload);
  }

  // What run() gets, a result or an error.
  async #seen(kind, name, count, outcome) {
    let value;
    try {
      value = await outcome;
    } catch (error) {
      await this.note("saw", { kind, name, count, error: String(error) });
      throw error;
    }
    await this.note("saw", { kind, name, count, value });
    return value;
  }

  #count(place) {
    const count = (this.#counts.get(place) ?? 0) + 1;
    this.#counts.set(place, count);
    return count;
  }
}
