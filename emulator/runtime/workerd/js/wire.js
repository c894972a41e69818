// Values as JSON, as wire.py describes them.

const BUILT_IN = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const BOXES = [Number, String, Boolean, BigInt];
// Names that errors have for being DOMExceptions (https://webidl.spec.whatwg.org/#idl-DOMException-error-names).
const DOM_NAMES = new Set(
  ("HierarchyRequest WrongDocument InvalidCharacter NoModificationAllowed NotFound NotSupported InUseAttribute " +
    "InvalidState Syntax InvalidModification Namespace InvalidAccess TypeMismatch Security Network Abort URLMismatch " +
    "QuotaExceeded Timeout InvalidNodeType DataClone Encoding NotReadable Unknown Constraint Data TransactionInactive " +
    "ReadOnly Version Operation NotAllowed OptOut")
    .split(" ")
    .map((name) => `${name}Error`),
);
// A DOMException that came from elsewhere has these as properties of its own, and its code.
const OWN_TO_ERRORS = new Set(["name", "message", "stack", "cause"]);
// Kinds of objects that can't be made before what is in them.
const MADE_OF_OTHERS = new Set(["view", "response", "request"]);
// What is nested deeper goes as nodes: JSON's writers and readers go down by recursion.
const DEEPEST = 200;

// `exported` makes a number for a function that the other side may call.
export function toWire(value, exported) {
  return isPlain(value, new Set(), DEEPEST) ? value : { $: nodes(value, exported) };
}

// Whether it is itself on the wire: JSON has a word for all of it, and no object is in it twice.
function isPlain(value, seen, depth) {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return isPlainNumber(value);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (seen.has(value) || !depth) return false;
  seen.add(value);
  if (Array.isArray(value)) {
    if (Object.keys(value).length !== value.length) return false;
    return value.every((item) => isPlain(item, seen, depth - 1));
  }
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || "$" in value) return false;
  for (const key of Object.keys(value)) if (!isPlain(value[key], seen, depth - 1)) return false;
  return true;
}

function isPlainNumber(value) {
  return Number.isInteger(value) ? Number.isSafeInteger(value) && !Object.is(value, -0) : Number.isFinite(value);
}

function nodes(root, exported) {
  const objects = [];
  const places = new Map();

  function part(value) {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return isPlainNumber(value) ? value : ["number", Object.is(value, -0) ? "-0" : String(value)];
      case "undefined":
        return ["undefined"];
      case "bigint":
        return ["bigint", String(value)];
      case "symbol":
        throw new DOMException(`${String(value)} could not be cloned.`, "DataCloneError");
    }
    if (value === null) return null;
    if (!places.has(value)) places.set(value, objects.push(value) - 1);
    return [places.get(value)];
  }

  if (root === null || (typeof root !== "object" && typeof root !== "function")) return [["value", part(root)]];
  part(root);
  const all = [];
  while (all.length < objects.length) all.push(node(objects[all.length], part, exported));
  return all;
}

function node(value, part, exported) {
  const pairs = (entries) => entries.flatMap(([key, item]) => [part(key), part(item)]);
  if (typeof value === "function") return ["function", exported(value)];
  if (Array.isArray(value)) {
    const keys = Object.keys(value);
    if (keys.length === value.length) return ["array", ...value.map(part)];
    return ["sparse", value.length, ...pairs(keys.map((key) => [key, value[key]]))];
  }
  if (value instanceof Date) return ["date", Number.isNaN(value.getTime()) ? null : value.getTime()];
  if (value instanceof Map) return ["map", ...pairs([...value])];
  if (value instanceof Set) return ["set", ...[...value].map(part)];
  if (value instanceof ArrayBuffer) return ["buffer", new Uint8Array(value).toBase64()];
  if (ArrayBuffer.isView(value)) return ["view", value.constructor.name, part(value.buffer), value.byteOffset, value.byteLength];
  if (value instanceof Error) return errorNode(value, part, pairs);
  if (value instanceof RegExp) return ["regexp", value.source, value.flags];
  if (BOXES.some((box) => value instanceof box)) return ["boxed", part(value.valueOf())];
  if (value instanceof Headers) return ["headers", ...[...value].flat()];
  if (value instanceof Response) return ["response", value.status, value.statusText, part(value.body), ...[...value.headers].flat()];
  if (value instanceof Request) {
    return ["request", value.method, value.url, part(value.body), part(value.cf), ...[...value.headers].flat()];
  }
  if (value instanceof ReadableStream) return ["stream", exported(chunksOf(value))];
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return ["object", ...pairs(Object.entries(value))];
  return ["function", exported(value)];
}

function errorNode(error, part, pairs) {
  const { name, message, stack = "", cause } = error;
  const caused = "cause" in error ? [part(cause)] : [];
  const properties = Object.entries(error).filter(([key]) => !OWN_TO_ERRORS.has(key) && !(key === "code" && DOM_NAMES.has(name)));
  return ["error", name, message, String(stack), caused, ...pairs(properties)];
}

// A function that gives the next chunk, or undefined; called with true it ends the stream.
function chunksOf(stream) {
  let reader;
  return async (cancelled) => {
    reader ??= stream.getReader();
    if (cancelled) return reader.cancel();
    return (await reader.read()).value;
  };
}

function streamOf(following) {
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const chunk = await following();
      if (chunk === undefined) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else {
        controller.enqueue(chunk);
      }
    },
    cancel: () => following(true),
  });
}

// `imported` makes a function of the other side's number.
export function fromWire(value, imported) {
  return value !== null && typeof value === "object" && "$" in value ? unwired(value.$, imported) : value;
}

function unwired(all, imported) {
  const objects = [];
  const part = (given) => (Array.isArray(given) ? special(given, objects) : given);
  if (all[0][0] === "value") return part(all[0][1]);
  all.forEach((each, place) => {
    if (!MADE_OF_OTHERS.has(each[0])) objects[place] = shell(each, part, imported);
  });
  all.forEach(([kind, name, buffer, offset, length], place) => {
    if (kind === "view") objects[place] = viewOf(name, part(buffer), offset, length);
  });
  all.forEach((each, place) => {
    if (each[0] === "response") objects[place] = responseOf(each, part);
    if (each[0] === "request") objects[place] = requestOf(each, part);
  });
  all.forEach((each, place) => fill(objects[place], each, part));
  return objects[0];
}

function special([kind, text], objects) {
  switch (kind) {
    case "undefined":
      return undefined;
    case "number":
      return Number(text);
    case "bigint":
      return BigInt(text);
    default:
      return objects[kind];
  }
}

// The object of a node, without the objects in it.
function shell([kind, ...given], part, imported) {
  switch (kind) {
    case "object":
      return {};
    case "array":
      return [];
    case "sparse":
      return new Array(given[0]);
    case "date":
      return new Date(given[0] ?? NaN);
    case "map":
      return new Map();
    case "set":
      return new Set();
    case "buffer":
      return Uint8Array.fromBase64(given[0]).buffer;
    case "error":
      return errorOf(given[0], given[1]);
    case "regexp":
      return new RegExp(given[0], given[1]);
    case "boxed":
      return Object(part(given[0]));
    case "stream":
      return streamOf(imported(given[0]));
    case "headers":
      return new Headers(pairsOf(given));
    default:
      return imported(given[0]);
  }
}

function responseOf([, status, statusText, body, ...headers], part) {
  return new Response(part(body), { status, statusText, headers: pairsOf(headers) });
}

function requestOf([, method, url, body, cf, ...headers], part) {
  return new Request(url, { method, body: part(body), cf: part(cf), headers: pairsOf(headers) });
}

function pairsOf(flat) {
  return flat.flatMap((name, at) => (at % 2 ? [] : [[name, flat[at + 1]]]));
}

function viewOf(name, buffer, offset, length) {
  const Kind = globalThis[name];
  return new Kind(buffer, offset, length / (Kind.BYTES_PER_ELEMENT ?? 1));
}

function errorOf(name, message) {
  if (name in BUILT_IN) return new BUILT_IN[name](message);
  if (name === "AggregateError") return new AggregateError([], message);
  if (DOM_NAMES.has(name)) return new DOMException(message, name);
  return Object.assign(new Error(message), { name });
}

function fill(object, [kind, ...given], part) {
  switch (kind) {
    case "object":
    case "sparse":
      return put(object, kind === "object" ? given : given.slice(1), part);
    case "array":
      return void object.push(...given.map(part));
    case "map":
      for (let at = 0; at < given.length; at += 2) object.set(part(given[at]), part(given[at + 1]));
      return;
    case "set":
      for (const member of given) object.add(part(member));
      return;
    case "error":
      if (given[3].length) Object.defineProperty(object, "cause", { value: part(given[3][0]), configurable: true, writable: true });
      return put(object, given.slice(4), part);
  }
}

// As own properties, "__proto__" too.
function put(object, pairs, part) {
  for (let at = 0; at < pairs.length; at += 2) {
    Object.defineProperty(object, pairs[at], { value: part(pairs[at + 1]), configurable: true, enumerable: true, writable: true });
  }
}
