// Full text, searched block by block while the page stays usable.

/** Everything that was shown to the policy, written by it, or answered to it. */
function haystackOf(episode) {
  const parts = [textOf(episode.prompt)];
  for (const step of episode.steps ?? []) {
    for (const name of ["action", "content", "reasoning", "observation"]) parts.push(textOf(step[name]));
    collect(step.calls, parts);
    collect(step.errors, parts);
    collect(step.results, parts);
  }
  collect(episode.state, parts);
  collect(episode.failure, parts);
  return parts.join("\n").toLowerCase();
}

const OUR_NAMES = new Set(["name", "arguments", "id", "kind", "position", "message", "content", "error"]);

function collect(value, parts, depth = 0) {
  if (value === null || value === undefined || depth > 4 * DEEPEST) return;
  if (typeof value !== "object") parts.push(String(value));
  else if (Array.isArray(value)) value.forEach((item) => collect(item, parts, depth + 1));
  else if (bigDigits(value) !== null) parts.push(bigDigits(value));
  else
    for (const [key, item] of Object.entries(value)) {
      if (depth > 1 || !OUR_NAMES.has(key)) parts.push(key);
      collect(item, parts, depth + 1);
    }
}

const pause = () => new Promise((resume) => setTimeout(resume));

const search = {
  query: "",
  hits: new Uint8Array(0),
  read: 0,
  running: false,
  /** Goes up with every change of `hits`. */
  version: 0,

  start(query) {
    if (query === this.query) return;
    this.query = query;
    this.version++;
    this.read = 0;
    this.running = query !== "";
    this.hits = new Uint8Array(total);
    if (query === "") return;
    const wanted = query.toLowerCase();
    const has = new Map();
    const contains = (text) => {
      if (!has.has(text)) has.set(text, text.toLowerCase().includes(wanted));
      return has.get(text);
    };
    for (let n = 0; n < total; n++) {
      this.hits[n] = Number([taskOf(n), envOf(n), policyOf(n), runOf(n).name].some(contains));
    }
    this.walk(query, wanted);
  },

  async walk(query, wanted) {
    let last = performance.now();
    for (let block = 0; block < index.blocks; block++) {
      const waiting = membersOf[block].filter((number) => !this.hits[number]);
      if (waiting.length) {
        const episodes = await EPISODES.peek(block);
        for (const number of waiting) {
          if (haystackOf(episodes[columns.offset[number]]).includes(wanted)) this.hits[number] = 1;
        }
        await pause();
      }
      if (this.query !== query || !this.running) return;
      this.read = block + 1;
      if (performance.now() - last > 150) {
        last = performance.now();
        this.version++;
        render();
      }
    }
    this.running = false;
    this.version++;
    render();
  },

  cancel() {
    this.running = false;
    render();
  },
};
