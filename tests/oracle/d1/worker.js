// Carries out the steps of a question on the database it names; tests/bindings/d1/asking.py is the same in Python.

const makers = {
  $undefined: () => undefined,
  $bigint: BigInt,
  $number: Number,
  $date: (ms) => new Date(ms),
  $buffer: (bytes) => new Uint8Array(bytes).buffer,
  $view: ([kind, elements]) => new globalThis[kind](elements),
  $dataview: (bytes) => new DataView(new Uint8Array(bytes).buffer),
  $function: () => function f() {},
  $symbol: () => Symbol("x"),
  $repeat: ([text, times]) => text.repeat(times),
};

function valued(given) {
  if (given === null || typeof given !== "object") return given;
  if (Array.isArray(given)) return given.map(valued);
  const [key] = Object.keys(given);
  return key in makers ? makers[key](given[key]) : given;
}

// A text, or its parts: [part, times] is repeated.
function text(sql) {
  if (!Array.isArray(sql)) return valued(sql);
  return sql.map((part) => (Array.isArray(part) ? part[0].repeat(part[1]) : part)).join("");
}

function prepared(db, sql, values) {
  const statement = db.prepare(text(sql));
  return values && values.length ? statement.bind(...values.map(valued)) : statement;
}

const steps = {
  first: ({ db }, sql, values, ...column) => prepared(db, sql, values).first(...column.map(valued)),
  all: ({ db }, sql, values) => prepared(db, sql, values).all(),
  run: ({ db }, sql, values) => prepared(db, sql, values).run(),
  raw: ({ db }, sql, values, ...options) => prepared(db, sql, values).raw(...options),
  count: async ({ db }, sql) => (await db.prepare(sql).all()).results.length,
  meta: async ({ db }, sql) => (await db.prepare(sql).all()).meta,
  bind: ({ db }, sql, ...values) => {
    const { statement, params } = prepared(db, sql, values);
    return { statement, params };
  },
  rebind: ({ db }, sql, before, after) => db.prepare(sql).bind(...before).bind(...after).params,
  keys: ({ db }, sql) => Object.keys(db.prepare(sql)),
  batch: ({ db }, statements) => db.batch(statements.map(([sql, ...values]) => prepared(db, sql, values))),
  rawbatch: ({ db }, ...given) => db.batch(...given.map(valued)),
  exec: ({ db }, sql) => db.exec(valued(sql)),
  dump: ({ db }) => db.dump(),
  query: ({ db }, request) => db.query(request),
  session: (state, ...constraint) => {
    state.session = state.db.withSession(...constraint.map(valued));
    return "session";
  },
  bookmark: ({ session }) => session.getBookmark(),
  "s.has": ({ session }, name) => name in session,
  "s.all": ({ session }, sql) => session.prepare(sql).all(),
  "s.batch": ({ session }, statements) => session.batch(statements.map(([sql]) => session.prepare(sql))),
};

export default {
  async fetch(request, env) {
    if (request.method === "GET") return new Response("up");
    const { database, setup, ask } = await request.json();
    const state = { db: env[database] };
    for (const sql of setup ?? []) await state.db.prepare(sql).run();
    const answers = [];
    for (const [name, ...given] of ask) {
      try {
        answers.push((await steps[name](state, ...given)) ?? null);
      } catch (error) {
        answers.push({ error: `${error.name}: ${error.message}`, cause: error.cause?.message ?? null });
      }
    }
    return Response.json(answers);
  },
};
