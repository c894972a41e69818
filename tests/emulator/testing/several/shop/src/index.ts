interface Env {
  PRICES: { price(item: string): Promise<string> };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const item = new URL(request.url).pathname.slice(1);
    return new Response(`${item} costs ${await env.PRICES.price(item)}`);
  },
};
