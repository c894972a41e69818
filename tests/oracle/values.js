// Values that JSON has no word for: {"$kind": ...} in questions becomes the value, and `shown` makes it text again.

const BYTES = new TextEncoder();

class Holder {
  constructor() {
    this.a = 1;
  }
}

// `makers` has the kinds that only one suite has.
export function revive(given, makers) {
  const again = (part) => revive(part, makers);
  if (Array.isArray(given)) return given.map(again);
  if (given === null || typeof given !== "object") return given;
  const [kind] = Object.keys(given);
  if (kind === undefined || !kind.startsWith("$")) {
    return Object.fromEntries(Object.entries(given).map(([key, part]) => [key, again(part)]));
  }
  const of = given[kind];
  if (kind in makers) return makers[kind](of);
  switch (kind) {
    case "$undefined": return undefined;
    case "$number": return Number(of);
    case "$bigint": return BigInt(of);
    case "$repeat": return of[0].repeat(of[1]);
    case "$date": return new Date(of === null ? NaN : of);
    case "$ahead": return new Date(Date.now() + of);
    case "$aheadMs": return Date.now() + of;
    case "$map": return new Map(of.map(([key, part]) => [again(key), again(part)]));
    case "$set": return new Set(of.map(again));
    case "$view": return view(...of);
    case "$buffer": return Array.isArray(of) ? new Uint8Array(of).buffer : new ArrayBuffer(of);
    case "$bytes": return new Uint8Array(of).fill(97);
    case "$global": return globalThis[of];
    case "$new": return new globalThis[of[0]](...of.slice(1).map(again));
    case "$error": return Object.assign(new (globalThis[of[0]] ?? Error)(of[1]), of[2] ?? {});
    case "$regexp": return new RegExp(of);
    case "$symbol": return Symbol(of);
    case "$object": return new Holder();
    case "$promise": return { p: Promise.resolve(1) };
    case "$weakmap": return new WeakMap();
    case "$circular": { const all = { a: 1 }; all.self = all; return all; }
    case "$twice": { const one = { a: 1 }; return [one, one]; }
    case "$stream": return stream(of);
  }
  throw new Error(`unknown kind ${kind}`);
}

function view(kind, elements) {
  if (kind === "DataView") return new DataView(new Uint8Array(elements).buffer);
  return kind.startsWith("Big") ? globalThis[kind].from(elements.map(BigInt)) : globalThis[kind].from(elements);
}

// {type, chunks: [text | number of bytes | {string} | {throw}], locked, cancelled}
function stream({ type, chunks = [], locked, cancelled }) {
  const left = [...chunks];
  const made = new ReadableStream({
    type,
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) {
        controller.close();
        if (type === "bytes") controller.byobRequest?.respond(0);
      } else if (typeof chunk === "string") controller.enqueue(BYTES.encode(chunk));
      else if (typeof chunk === "number") controller.enqueue(new Uint8Array(chunk).fill(97));
      else if ("string" in chunk) controller.enqueue(chunk.string);
      else if ("value" in chunk) controller.enqueue(chunk.value);
      else controller.error(new Error(chunk.throw));
    },
  });
  if (locked) made.getReader();
  if (cancelled) made.cancel("enough");
  return made;
}

const DEEP = 12;

export async function shown(value, depth = 0) {
  if (depth > DEEP) return { $deep: 0 };
  const all = (values) => allShown(values, depth + 1);
  if (value === undefined) return { $undefined: 0 };
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: Object.is(value, -0) ? "-0" : String(value) };
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (typeof value === "string" && value.length > 300) return { $long: [value.slice(0, 10), value.length] };
  if (typeof value === "function") return { $function: 0 };
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return all(value);
  if (value instanceof Date) return { $date: Number.isNaN(value.getTime()) ? null : value.getTime() };
  if (value instanceof Map) return { $map: await all([...value].map(([key, part]) => [key, part])) };
  if (value instanceof Set) return { $set: await all([...value]) };
  if (value instanceof ArrayBuffer) return { $buffer: bytes(value) };
  if (ArrayBuffer.isView(value)) return { $view: [value.constructor.name, elements(value)] };
  if (value instanceof Error) return { $error: [value.name, value.message, { ...value }] };
  if (value instanceof RegExp) return { $regexp: value.source };
  if (value instanceof ReadableStream) return { $stream: await read(value) };
  const members = {};
  for (const [key, part] of Object.entries(value)) members[key] = await shown(part, depth + 1);
  return members;
}

// Of zeros, only how many.
function bytes(buffer) {
  const all = new Uint8Array(buffer);
  return all.some(Boolean) ? elements(all) : all.length;
}

function elements(view) {
  const all = view.length === undefined ? new Uint8Array(view.buffer) : view;
  return all.length > 300 ? { $long: [Number(all[0]), all.length] } : [...all].map(Number);
}

async function allShown(values, depth) {
  const seen = [];
  for (const value of values) seen.push(await shown(value, depth));
  return seen;
}

async function read(stream) {
  try {
    const text = await new Response(stream).text();
    return text.length > 300 ? { $long: [text.slice(0, 10), text.length] } : text;
  } catch (error) {
    return { throws: thrownText(error) };
  }
}

export function thrownText(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : `thrown ${typeof error} ${String(error)}`;
}
