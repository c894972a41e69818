// env.<a rate limit>: checks what it is asked as production does, and asks ratelimit.py.

const OPTIONS = ["key", "limit", "period"];
const PERIODS = [10, 60];

function check(holds, message) {
  if (!holds) throw new Error(message);
}

class Ratelimit {
  #fetcher;
  #settings;

  constructor({ fetcher, settings }) {
    this.#fetcher = fetcher;
    this.#settings = settings;
  }

  async limit(options) {
    check(typeof options === "object" && options !== null, "invalid rate limit options");
    const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
    check(unknown.length === 0, `bad rate limit options: [${unknown.join(",")}]`);
    const { key = "", limit = this.#settings.limit, period = this.#settings.period } = options;
    check(typeof key === "string", `invalid key: ${key}`);
    check(typeof limit === "number", `limit must be a number: ${limit}`);
    check(typeof period === "number", `period must be a number: ${period}`);
    check(PERIODS.includes(period), `unsupported period: ${period}`);
    const body = JSON.stringify({ namespace: this.#settings.namespace, key, limit, period });
    const answer = await this.#fetcher.fetch("http://ratelimit/", { method: "POST", body });
    return answer.json();
  }
}

export default (env) => new Ratelimit(env);
