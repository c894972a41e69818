// Values as JSON, as wire.py describes them.

const STANDARD = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

export function toWire(value, exported) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { $: ["number", Object.is(value, -0) ? "-0" : String(value)] };
    case "undefined":
      return { $: ["undefined"] };
    case "bigint":
      return { $: ["bigint", String(value)] };
    case "function":
      return { $: ["function", exported(value)] };
  }
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => toWire(item, exported));
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    const plain = fields(value, exported);
    return "$" in plain ? { $: ["object", plain] } : plain;
  }
  return { $: tagged(value, exported) };
}

function fields(value, exported) {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toWire(item, exported)]));
}

function tagged(value, exported) {
  if (value instanceof Date) return ["date", Number.isNaN(value.getTime()) ? null : value.getTime()];
  if (value instanceof Map) return ["map", [...value].map(([key, item]) => [toWire(key, exported), toWire(item, exported)])];
  if (value instanceof Set) return ["set", [...value].map((member) => toWire(member, exported))];
  if (value instanceof ArrayBuffer) return ["buffer", new Uint8Array(value).toBase64()];
  if (ArrayBuffer.isView(value)) {
    return ["view", value.constructor.name, new Uint8Array(value.buffer, value.byteOffset, value.byteLength).toBase64()];
  }
  if (value instanceof Error) return errorToWire(value, exported);
  return ["function", exported(value)];
}

function errorToWire(error, exported) {
  const { cause, ...properties } = error;
  const caused = "cause" in error ? [toWire(error.cause, exported)] : [];
  return ["error", error.name, error.message, String(error.stack ?? ""), fields(properties, exported), ...caused];
}

export function fromWire(value, imported) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => fromWire(item, imported));
  if (!("$" in value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromWire(item, imported)]));
  }
  const [kind, ...parts] = value.$;
  switch (kind) {
    case "undefined":
      return undefined;
    case "number":
      return Number(parts[0]);
    case "bigint":
      return BigInt(parts[0]);
    case "date":
      return new Date(parts[0] ?? NaN);
    case "map":
      return new Map(parts[0].map(([key, item]) => [fromWire(key, imported), fromWire(item, imported)]));
    case "set":
      return new Set(parts[0].map((member) => fromWire(member, imported)));
    case "buffer":
      return Uint8Array.fromBase64(parts[0]).buffer;
    case "view": {
      const bytes = Uint8Array.fromBase64(parts[1]);
      const Kind = globalThis[parts[0]];
      return new Kind(bytes.buffer);
    }
    case "error":
      return errorFromWire(parts, imported);
    case "object":
      return Object.fromEntries(Object.entries(parts[0]).map(([key, item]) => [key, fromWire(item, imported)]));
    default:
      return imported(parts[0]);
  }
}

function errorFromWire([name, message, , properties, ...cause], imported) {
  const caused = cause.length ? { cause: fromWire(cause[0], imported) } : undefined;
  const error = new (STANDARD[name] ?? Error)(message, caused);
  if (!(name in STANDARD)) error.name = name;
  return Object.assign(error, fromWire(properties, imported));
}
