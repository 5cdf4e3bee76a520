// The data that the page carries, in compressed blocks; callgym.viewer.page writes them and says how they look.

const MOST_BLOCKS = 20;
const elementText = (id) => document.getElementById(id)?.textContent ?? null;

async function unpack(id) {
  const packed = elementText(id);
  if (packed === null) throw new Error(`the page has no part ${JSON.stringify(id)}: it was cut off when it was saved`);
  const binary = atob(packed.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Blocks of one kind; the last that were used stay unpacked. */
class Blocks {
  constructor(kind) {
    this.kind = kind;
    this.kept = new Map();
  }

  get(number) {
    const found = this.kept.get(number) ?? unpack(`${this.kind}-${number}`);
    this.kept.delete(number);
    this.kept.set(number, found);
    if (this.kept.size > MOST_BLOCKS) this.kept.delete(this.kept.keys().next().value);
    return found;
  }

  /** As `get`, for somebody who walks through all of them: nothing is kept. */
  peek(number) {
    return this.kept.get(number) ?? unpack(`${this.kind}-${number}`);
  }
}

const ENDINGS = ["running", "terminated", "truncated", "failed"];
const EPISODES = new Blocks("block");
const TASKS = new Blocks("tasks");

let index = null;
let columns = null;
let shared = [];
let total = 0;
/** Reward name to its column; a Map, since a reward may have any name. */
let scores = new Map();
/** Episode to its number of errors. */
let errorCounts = [];
/** Block to its episodes. */
let membersOf = [];

async function readPage() {
  [index, shared] = await Promise.all([unpack("index"), unpack("shared")]);
  if (index.version !== 1) throw new Error(`the page's data are of version ${index.version}; this script reads 1`);
  columns = index.columns;
  total = columns.run.length;
  scores = new Map(Object.entries(columns.scores));
  errorCounts = columns.errors.map((flat) => (flat ?? []).reduce((sum, item, at) => (at % 2 ? sum + item : sum), 0));
  membersOf = Array.from({ length: index.blocks }, () => []);
  columns.block.forEach((block, number) => membersOf[block]?.push(number));
}

const textOf = (text) => {
  if (text === null || text === undefined) return "";
  return Array.isArray(text) ? text.map((part) => (typeof part === "number" ? shared[part] : part)).join("") : text;
};

const nameIn = (table, at) => (at === null || at === undefined || at < 0 ? "" : (table[at] ?? ""));
const envOf = (number) => nameIn(index.envs, columns.env[number]);
const taskOf = (number) => nameIn(index.tasks, columns.task[number]);
const policyOf = (number) => nameIn(index.policies, columns.policy[number]);
const dialectOf = (number) => nameIn(index.dialects, columns.dialect[number]);
const runOf = (number) => index.runs[columns.run[number]];
const seedOf = (number) => String(columns.seed[number] ?? "unknown");
const returnOf = (number) => columns.return[number];
const errorName = (kind) => (typeof kind === "string" ? kind : nameIn(index.errors, kind));

/** [kind, count] of an episode's errors. */
function errorsOf(number) {
  const flat = columns.errors[number] ?? [];
  return Array.from({ length: flat.length / 2 }, (_, at) => [errorName(flat[2 * at]), flat[2 * at + 1]]);
}

async function readEpisode(number) {
  const block = await EPISODES.get(columns.block[number]);
  return block[columns.offset[number]];
}

async function readTask(number) {
  const place = index.task_places[columns.key[number]];
  if (!place) return null;
  return (await TASKS.get(place[0]))[place[1]] ?? null;
}
