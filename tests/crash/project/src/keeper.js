// keeper.py's consumer in JavaScript: a message's first word says what becomes of it.

import { note } from "./telling.js";

export default {
  async queue(batch) {
    for (const { id, body, attempts } of batch.messages) {
      await note("got", { queue: batch.queue, message: id, body, attempts });
    }
    const acked = [];
    const again = [];
    const rest = [];
    let throws = false;
    let allAgain = false;
    for (const message of batch.messages) {
      const [word] = message.body.split("-");
      if (batch.queue !== "dead" && word === "poison") {
        message.retry();
        again.push(message.id);
      } else if (batch.queue !== "dead" && word === "again" && message.attempts < 3) {
        message.retry({ delaySeconds: 2 });
        again.push(message.id);
      } else if (batch.queue !== "dead" && (word === "again" || word === "acked")) {
        message.ack();
        acked.push(message.id);
      } else {
        throws ||= word === "thrown" && message.attempts === 1;
        allAgain ||= word === "all" && message.attempts === 1;
        rest.push(message.id);
      }
    }
    if (allAgain) batch.retryAll();
    (throws || allAgain ? again : acked).push(...rest);
    await note("says", { queue: batch.queue, acked, again });
    if (throws) throw new Error("thrown");
  },
};
