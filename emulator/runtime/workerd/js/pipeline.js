// env.<a pipeline>: takes everything and keeps nothing, as wrangler dev does.

class Pipeline {
  async send() {}
}

export default () => new Pipeline();
