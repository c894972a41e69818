// What `cloudflare:email` gives a Worker: workerd has only its name.

export const RAW = Symbol("raw");

export class EmailMessage {
  constructor(from, to, raw) {
    this.from = from;
    this.to = to;
    Object.defineProperty(this, RAW, { value: raw });
  }
}

export default { EmailMessage };
