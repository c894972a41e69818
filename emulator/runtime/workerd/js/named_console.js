// Several Workers write to one output. What this one's console says begins with its name, between marks.

import name from "./name.flarebed";

const mark = `\u0001${name}\u0001`;

for (const method of ["debug", "error", "info", "log", "warn"]) {
  const write = console[method];
  console[method] = {
    [method](first, ...rest) {
      // A text that comes first may have placeholders for the rest.
      if (typeof first === "string") write.call(console, `${mark} ${first}`, ...rest);
      else if (arguments.length) write.call(console, mark, first, ...rest);
      else write.call(console, mark);
    },
  }[method];
}
