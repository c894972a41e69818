// env.<send_email>: checks a message as production does and logs it; nothing is sent.

import { RAW } from "cloudflare-internal:email";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

class SendEmail {
  #settings;

  constructor({ settings }) {
    this.#settings = settings;
  }

  async send(message) {
    const from = address(message.from);
    const recipients = [message.to].flat().map(address);
    if (this.#settings.senders?.includes(from) === false) throw new Error(`email from ${from} not allowed`);
    for (const to of recipients) {
      const { destination, destinations } = this.#settings;
      const allowed = to === (destination ?? to) && (destinations?.includes(to) ?? true);
      if (!allowed) throw new Error(`email to ${to} not allowed`);
    }
    if (RAW in message) {
      const text = await new Response(message[RAW]).text();
      checkHeaders(text, from);
      console.log(`send_email binding called with the following message:\n${text}`);
    } else {
      console.log(`send_email binding called with MessageBuilder:\n${described(message)}`);
    }
    return { messageId: messageId(from) };
  }
}

function checkHeaders(text, from) {
  const [head] = text.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const header = (name) => lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1);
  if (header("message-id") === undefined) throw new Error("invalid message-id");
  if (address(header("from")?.trim() ?? "") !== from) throw new Error("From: header does not match mail from");
  if (header("received") !== undefined) throw new Error("invalid headers set");
}

function address(value) {
  if (typeof value !== "string") return value.email;
  return (/<([^>]+)>$/.exec(value)?.[1] ?? value).trim();
}

function described({ from, to, cc, bcc, subject, text, html }) {
  const shown = (value) => (typeof value === "string" ? value : `"${value.name}" <${value.email}>`);
  const listed = (name, value) => (value ? [`${name}: ${[value].flat().map(shown).join(", ")}`] : []);
  const lines = [...listed("From", from), ...listed("To", to), ...listed("Cc", cc), ...listed("Bcc", bcc)];
  const bodies = [text, html].filter((body) => body !== undefined);
  return [...lines, `Subject: ${subject}`, ...bodies.flatMap((body) => ["", body])].join("\n");
}

// Production makes one up and does not return a header of the message.
function messageId(from) {
  const random = crypto.getRandomValues(new Uint8Array(36));
  const letters = Array.from(random, (byte) => LETTERS[byte % LETTERS.length]).join("");
  return `<${letters}@${from.slice(from.lastIndexOf("@") + 1)}>`;
}

export default (env) => new SendEmail(env);
