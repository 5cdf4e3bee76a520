// One page for files of episodes: a list, one episode, two runs side by side, charts.
//
// The page carries its data in compressed blocks; callgym.viewer.page writes them and says how they look. All of it was
// written by models, by tools or by somebody's file. It reaches the document as text nodes, and in no other way.

// ------------------------------------------------------------------------------------------------ text of others

const LONGEST_OPEN = 4000;
const LONGEST_ANSWER_OPEN = 1500;
const CHUNK = 10_000;
const MOST_MARKS = 400;

// What a reader cannot see, or what moves other letters about: controls, directions, joiners, blanks without width,
// tags, half surrogates. Tab and newline are shown as they are.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]|\\p{Cs}",
  "gu",
);
const BEFORE_JOINER = /^[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]/u;
const AFTER_JOINER = /^\p{Extended_Pictographic}/u;

const escapeOf = (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

const lastCharacter = (text) => text.slice(text.codePointAt(text.length - 2) > 0xffff ? -2 : -1);

/** The places of hidden characters in a text; a joiner within an emoji is none. */
function* hiddenIn(text) {
  for (const match of text.matchAll(HIDDEN)) {
    const at = match.index;
    const joins =
      match[0] === "\u200d" &&
      BEFORE_JOINER.test(lastCharacter(text.slice(Math.max(0, at - 2), at))) &&
      AFTER_JOINER.test(text.slice(at + 1, at + 3));
    if (!joins) yield match;
  }
}

/** A text with its hidden characters written out. */
function plain(text) {
  let shown = "";
  let from = 0;
  for (const match of hiddenIn(text)) {
    shown += text.slice(from, match.index) + escapeOf(match[0]);
    from = match.index + match[0].length;
  }
  return shown + text.slice(from);
}

/** As `plain`, with each hidden character in an element of its own. */
function foreign(text) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  let marks = 0;
  for (const match of hiddenIn(text)) {
    if (++marks > MOST_MARKS) break;
    if (match.index > from) fragment.append(text.slice(from, match.index));
    fragment.append(make("span", "hidden-character", escapeOf(match[0])));
    from = match.index + match[0].length;
  }
  const rest = text.slice(from);
  if (rest) fragment.append(marks > MOST_MARKS ? plain(rest) : rest);
  return fragment;
}

// ------------------------------------------------------------------------------------------------------ elements

/** An element; strings among the children are our own words. */
function make(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text of others within a line; it cannot turn the direction of what stands beside it. */
function inline(text, classes = "") {
  const element = make("bdi", classes);
  if (text.length <= LONGEST_OPEN) element.append(foreign(text));
  else element.append(foreign(beginning(text, LONGEST_OPEN)), `… (${count(characters(text), "character")})`);
  return element;
}

function button(label, classes, onClick) {
  const element = make("button", classes, label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/** Something folded; its inside is made when it is opened for the first time. */
function folded(summary, content, open = false) {
  const details = make("details", "folded", make("summary", "", summary));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(content());
  };
  details.addEventListener("toggle", fill);
  details.open = open;
  fill();
  return details;
}

const whole = new Intl.NumberFormat("en-US");
const count = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;
const score = (value) => (value === null || value === undefined ? "unknown" : value.toFixed(3));
const signed = (value) => (value > 0 ? `+${value.toFixed(3)}` : value < 0 ? `−${(-value).toFixed(3)}` : "0.000");

function seconds(value) {
  if (value === null || value === undefined) return "unknown";
  if (value < 0.0995) return `${(value * 1000).toPrecision(2)} ms`;
  return value < 10 ? `${value.toPrecision(2)} s` : `${whole.format(Math.round(value))} s`;
}

/** Where the character of a number, counted as Python counts, begins in a JavaScript string. */
function offsetOf(text, position) {
  let at = 0;
  for (let number = 0; number < position && at < text.length; number++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

function characters(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.codePointAt(at) > 0xffff) (pairs++, at++);
  return text.length - pairs;
}

/** The first part of a text that does not end within a pair of surrogates. */
function beginning(text, length) {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** A box for a text of any length: folded where it is long, in pieces where it is very long. */
function textBox(text, { marks = [], most = LONGEST_OPEN, classes = "" } = {}) {
  const outer = make("div", `text-box ${classes}`.trim());
  if (!text) {
    outer.append(make("span", "nothing", "(empty)"));
    return outer;
  }
  const box = make("div", "text");
  box.dir = "auto";
  outer.append(box);
  const places = marks.map((position) => offsetOf(text, position)).sort((one, other) => one - other);
  if (text.length <= most) {
    fillText(box, text, places);
    return outer;
  }
  const total = count(characters(text), "character");
  const more = button(`show ${total}`, "more", () => {
    const opening = more.getAttribute("aria-expanded") === "false";
    more.setAttribute("aria-expanded", String(opening));
    more.textContent = opening ? "show fewer" : `show ${total}`;
    fillText(box, opening ? text : beginning(text, most), places);
  });
  more.setAttribute("aria-expanded", "false");
  fillText(box, beginning(text, most), places);
  outer.append(more);
  return outer;
}

function fillText(box, text, places) {
  const pieces = text.length > 5 * CHUNK ? chunksOf(text) : [text];
  let from = 0;
  const children = pieces.map((piece) => {
    const within = places.filter((place) => place >= from && place < from + piece.length).map((place) => place - from);
    if (from + piece.length === text.length && places.some((place) => place >= text.length)) within.push(piece.length);
    from += piece.length;
    return markedText(piece, within, pieces.length > 1);
  });
  box.replaceChildren(...children);
}

function markedText(text, places, isChunk) {
  const holder = isChunk ? make("div", "chunk") : document.createDocumentFragment();
  let from = 0;
  for (const place of places) {
    holder.append(foreign(text.slice(from, place)), make("mark", "fault-place", "▸"));
    from = place;
  }
  holder.append(foreign(text.slice(from)));
  return holder;
}

/** Pieces that a browser lays out one by one; they end at a newline where there is one. */
function chunksOf(text) {
  const pieces = [];
  for (let from = 0; from < text.length;) {
    const piece = beginning(text.slice(from, from + CHUNK), CHUNK);
    const newline = piece.lastIndexOf("\n");
    const length = newline > CHUNK / 2 && from + CHUNK < text.length ? newline + 1 : piece.length;
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return pieces;
}

// ---------------------------------------------------------------------------------------------------- JSON values

const DEEPEST = 60;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The digits of an integer that JavaScript cannot hold; null for any other value. */
function bigDigits(value) {
  if (!isObject(value)) return null;
  const keys = Object.keys(value);
  const digits = keys.length === 1 && keys[0] === "$int" ? value.$int : null;
  return typeof digits === "string" && /^-?\d+$/.test(digits) ? digits : null;
}

/** A value as JSON text, indented where it does not fit into a line. */
function jsonText(value, indent = "", depth = 0) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  const digits = bigDigits(value);
  if (digits !== null) return digits;
  if (depth > DEEPEST) return "… (deeper)";
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((item) => jsonText(item, inner, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${jsonText(item, inner, depth + 1)}`);
  const [open, close] = isList ? "[]" : "{}";
  const length = parts.reduce((sum, part) => sum + part.length + 2, indent.length);
  if (length <= 76 && !parts.some((part) => part.includes("\n"))) return open + parts.join(", ") + close;
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

/** A value in a table's cell: text in quotes, as it is; anything else as JSON. */
function valueBox(value) {
  if (typeof value === "string") return textBox(`"${value}"`, { most: LONGEST_ANSWER_OPEN, classes: "value" });
  return textBox(jsonText(value), { most: LONGEST_ANSWER_OPEN, classes: "value" });
}

/** A table of names and values; `rows` are [name, node or value]. */
function factTable(rows, classes = "") {
  const table = make("table", `facts ${classes}`.trim());
  const body = make("tbody");
  for (const [name, value] of rows) {
    const head = make("th", "", inline(name));
    head.scope = "row";
    body.append(make("tr", "", head, make("td", "", value instanceof Node ? value : valueBox(value))));
  }
  table.append(body);
  return table;
}

const objectTable = (object) => factTable(Object.entries(object));

// ----------------------------------------------------------------------------------------------- data of the page

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

// --------------------------------------------------------------------------------------------------- what is shown

const DEFAULTS = {
  view: "episodes",
  open: "",
  q: "",
  id: "",
  run: "",
  policy: "",
  dialect: "",
  ended: "",
  error: "",
  returned: "",
  low: "",
  high: "",
  edges: "",
  reward: "",
  is: "",
  from: "",
  to: "",
  least: "",
  most: "",
  sort: "",
  a: "0",
  b: "1",
  pairs: "",
  pair: "",
  order: "",
};
const FILTERS = [
  "q",
  "id",
  "run",
  "policy",
  "dialect",
  "ended",
  "error",
  "returned",
  "low",
  "high",
  "edges",
  "reward",
  "is",
  "from",
  "to",
  "least",
  "most",
];
const VIEWS = [
  ["episodes", "Episodes"],
  ["compare", "Compare"],
  ["charts", "Charts"],
];

let state = { ...DEFAULTS };
let written = "";
let writing = 0;

function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const read = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) if (given.has(name)) read[name] = given.get(name);
  if (!VIEWS.some(([view]) => view === read.view)) read.view = DEFAULTS.view;
  for (const name of ["open", "a", "b", "pair"]) if (!/^\d*$/.test(read[name])) read[name] = DEFAULTS[name];
  if (read.open !== "" && Number(read.open) >= total) read.open = "";
  return read;
}

function hashOf(values) {
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== DEFAULTS[name]) kept.set(name, value);
  return kept.toString();
}

/** Change what is shown. A step that Back should undo is pushed; the others replace the page's address. */
function change(changes, { push = false } = {}) {
  state = { ...state, ...changes };
  clearTimeout(writing);
  if (push) writeHash(true);
  else writing = setTimeout(writeHash, 200);
  render();
}

function writeHash(push = false) {
  clearTimeout(writing);
  const hash = hashOf(state);
  if (hash === written) return;
  written = hash;
  history[push ? "pushState" : "replaceState"](null, "", `#${hash}`);
}

function followHash() {
  clearTimeout(writing);
  state = readHash();
  written = hashOf(state);
  filterPanel.read();
  searchBox.value = state.q;
  render();
}

const between = (value, low, high) =>
  value !== null && (low === "" || value >= Number(low)) && (high === "" || value <= Number(high));

/** The test that an episode passes under the present filters; `run` can be left out. */
function filterTest({ anyRun = false } = {}) {
  const tests = [];
  const same = (name, column) => {
    if (state[name] !== "") tests.push((n) => column[n] === Number(state[name]));
  };
  same("id", columns.env);
  if (!anyRun) same("run", columns.run);
  same("policy", columns.policy);
  same("dialect", columns.dialect);
  same("ended", columns.ended);
  if (state.error === "none") tests.push((n) => errorCounts[n] === 0);
  else if (state.error === "any") tests.push((n) => errorCounts[n] > 0);
  else if (state.error !== "")
    tests.push((n) => errorsOf(n).some(([kind]) => kind === index.errors[Number(state.error)]));
  if (state.returned === "unknown") tests.push((n) => returnOf(n) === null);
  else if (state.low !== "" || state.high !== "") tests.push(returnTest());
  if (state.reward !== "") tests.push(rewardTest());
  if (state.least !== "" || state.most !== "") tests.push((n) => between(columns.steps[n], state.least, state.most));
  if (state.q !== "") tests.push((n) => search.hits[n] === 1);
  return (number) => tests.every((test) => test(number));
}

/** `edges` says which ends of the range are left out: "low", "high" or "low high". */
function returnTest() {
  const { low, high, edges } = state;
  const inside = (value) => between(value, low, high);
  const leftOut = (value) =>
    (edges.includes("low") && value === Number(low)) || (edges.includes("high") && value === Number(high));
  return (n) => inside(returnOf(n)) && !leftOut(returnOf(n));
}

function rewardTest() {
  const column = scores.get(index.rewards[Number(state.reward)]) ?? [];
  const value = (n) => column[n] ?? null;
  if (state.is === "unknown") return (n) => value(n) === null;
  if (state.is === "n") return (n) => value(n) === "n";
  if (state.is === "" && state.from === "" && state.to === "") return () => true;
  return (n) => typeof value(n) === "number" && between(value(n), state.from, state.to);
}

let shownFor = null;
let shown = [];

/** The episodes that pass the filters, in the order of their files. */
function shownEpisodes() {
  const key = FILTERS.map((name) => state[name]).join("\u0000") + search.version;
  if (shownFor !== key) {
    shownFor = key;
    const passes = filterTest();
    shown = [];
    for (let number = 0; number < total; number++) if (passes(number)) shown.push(number);
  }
  return shown;
}

// ------------------------------------------------------------------------------------------------------ full text

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

// ----------------------------------------------------------------------------------------------------------- list

const ROW_HEIGHT = 28;
const OVERSCAN = 8;

/** A table of any length of which only the rows in sight are in the document. */
class VirtualList {
  constructor({ label, cells, onOpen, onSort, name }) {
    Object.assign(this, { cells, onOpen, onSort, name });
    this.items = [];
    this.selected = -1;
    this.pool = new Map();
    this.body = make("div", "rows");
    this.body.setAttribute("role", "rowgroup");
    this.element = make("div", `list ${name}`, this.makeHead(), this.body);
    this.element.setAttribute("role", "grid");
    this.element.setAttribute("aria-label", label);
    this.element.setAttribute("aria-colcount", String(cells.length));
    this.element.tabIndex = 0;
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.empty = make("p", "nothing empty-list", "No episode passes these filters.");
    this.empty.hidden = true;
    this.element.append(this.empty);
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  makeHead() {
    this.heads = this.cells.map((cell) => {
      const head = make("div", `cell ${cell.name}`);
      head.setAttribute("role", "columnheader");
      head.append(button(cell.title, "", () => this.onSort(cell.name)));
      head.firstChild.title = `Sort by ${cell.title}`;
      return head;
    });
    const row = make("div", "row head", ...this.heads);
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", "1");
    const group = make("div", "list-head", row);
    group.setAttribute("role", "rowgroup");
    return group;
  }

  setItems(items, sort) {
    const kept = this.items[this.selected];
    const moved = items !== this.items;
    this.items = items;
    this.element.setAttribute("aria-rowcount", String(items.length + 1));
    this.body.style.height = `${items.length * ROW_HEIGHT}px`;
    this.empty.hidden = items.length > 0;
    if (moved) {
      for (const row of this.pool.values()) row.remove();
      this.pool.clear();
      if (kept !== undefined) this.selected = items.indexOf(kept);
    }
    this.markSort(sort);
    this.draw();
  }

  markSort(sort) {
    const [name, direction] = sort.split(".");
    this.cells.forEach((cell, at) => {
      const sorted = cell.name === name ? (direction === "down" ? "descending" : "ascending") : "none";
      this.heads[at].setAttribute("aria-sort", sorted);
    });
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  draw() {
    const top = Math.max(0, Math.floor(this.element.scrollTop / ROW_HEIGHT) - OVERSCAN);
    const inSight = Math.ceil(this.element.clientHeight / ROW_HEIGHT);
    const end = Math.min(this.items.length, top + inSight + 2 * OVERSCAN);
    const free = [];
    for (const [at, row] of this.pool) {
      if (at >= top && at < end) continue;
      this.pool.delete(at);
      free.push(row);
    }
    for (let at = top; at < end; at++) {
      if (this.pool.has(at)) continue;
      const row = free.pop() ?? this.makeRow();
      this.pool.set(at, row);
      this.fillRow(row, at);
      if (!row.isConnected) this.body.append(row);
    }
    for (const row of free) row.remove();
    this.markSelected();
  }

  makeRow() {
    const row = make("div", "row", ...this.cells.map((cell) => make("div", `cell ${cell.name}`)));
    row.setAttribute("role", "row");
    for (const cell of row.children) cell.setAttribute("role", "gridcell");
    row.addEventListener("click", () => this.open(row.at));
    return row;
  }

  fillRow(row, at) {
    row.at = at;
    row.id = `${this.name}-row-${at}`;
    row.dataset.item = String(this.items[at]);
    row.setAttribute("aria-rowindex", String(at + 2));
    row.style.transform = `translateY(${at * ROW_HEIGHT}px)`;
    row.classList.toggle("odd", at % 2 === 1);
    this.cells.forEach((cell, number) => row.children[number].replaceChildren(...[cell.show(this.items[at])].flat()));
  }

  markSelected() {
    for (const [at, row] of this.pool) {
      row.setAttribute("aria-selected", String(at === this.selected));
      row.classList.toggle("selected", at === this.selected);
    }
    if (this.pool.has(this.selected))
      this.element.setAttribute("aria-activedescendant", this.pool.get(this.selected).id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Select the row of an item, and bring it into sight. */
  select(item) {
    const at = this.items.indexOf(item);
    if (at >= 0) this.selectAt(at);
    else this.selected = -1;
  }

  selectAt(at) {
    this.selected = Math.max(0, Math.min(this.items.length - 1, at));
    const view = this.element;
    const place = this.selected * ROW_HEIGHT;
    const height = view.clientHeight - ROW_HEIGHT;
    if (place < view.scrollTop) view.scrollTop = place;
    else if (place + ROW_HEIGHT > view.scrollTop + height) view.scrollTop = place + ROW_HEIGHT - height;
    this.draw();
  }

  open(at) {
    if (at < 0 || at >= this.items.length) return;
    this.selectAt(at);
    this.onOpen(this.items[at], { push: true });
  }

  /** Go so many rows on; an episode that is open gives way to the next. */
  move(by, isOpen) {
    if (!this.items.length) return;
    this.selectAt(this.selected < 0 ? 0 : this.selected + by);
    if (isOpen) this.onOpen(this.items[this.selected], { push: false });
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 2);
    const end = this.items.length;
    const steps = new Map([
      ["ArrowDown", 1],
      ["ArrowUp", -1],
      ["PageDown", page],
      ["PageUp", -page],
      ["Home", -end],
      ["End", end],
    ]);
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!steps.has(event.key)) return;
    event.preventDefault();
    this.move(steps.get(event.key), isOpen());
  }
}

/** A value in [0, 1] as a number and a bar. */
function bar(value, classes = "") {
  const fill = make("span", "bar-fill");
  fill.style.width = `${100 * Math.max(0, Math.min(1, value ?? 0))}%`;
  const element = make("span", `bar ${classes}`.trim(), fill);
  element.setAttribute("aria-hidden", "true");
  return element;
}

const returnCell = (value) => {
  if (value === undefined) return [make("span", "nothing", "–")];
  if (value === null) return [make("span", "unknown", "unknown")];
  return [bar(value), make("span", "number", score(value))];
};

/** One line of others' text; the whole of it on hovering. */
function lineCell(text) {
  const short = beginning(text, Math.min(text.length, 160));
  const element = inline(short.replaceAll(/[\t\n]/g, " "), "line");
  element.title = plain(beginning(text, Math.min(text.length, 1000)));
  return element;
}

const runColour = (run) => `run-${run % 8}`;

function runName(run, classes = "") {
  const name = lineCell(index.runs[run].name);
  name.classList.add("run-name");
  return make("span", `run ${runColour(run)} ${classes}`.trim(), make("span", "dot"), name);
}

function endingBadge(ended) {
  return make("span", `ending ending-${ENDINGS[ended]}`, ENDINGS[ended]);
}

function errorsCell(number) {
  if (!errorCounts[number]) return make("span", "nothing", "–");
  const kinds = errorsOf(number).map(([kind, times]) => (times > 1 ? `${kind} ×${times}` : kind));
  const element = lineCell(kinds.join(", "));
  element.classList.add("error-text");
  return element;
}

const CELLS = [
  { name: "index", title: "#", show: (n) => String(columns.index[n]), sort: (n) => columns.index[n] },
  { name: "run", title: "run", show: (n) => runName(columns.run[n]), sort: (n) => columns.run[n] },
  { name: "id", title: "id", show: (n) => lineCell(envOf(n)), sort: envOf },
  { name: "task", title: "task", show: (n) => lineCell(taskOf(n)), sort: taskOf },
  { name: "policy", title: "policy", show: (n) => lineCell(policyOf(n)), sort: policyOf },
  { name: "return", title: "return", show: (n) => returnCell(returnOf(n)), sort: returnOf },
  { name: "steps", title: "steps", show: (n) => String(columns.steps[n]), sort: (n) => columns.steps[n] },
  { name: "ended", title: "ending", show: (n) => endingBadge(columns.ended[n]), sort: (n) => columns.ended[n] },
  { name: "errors", title: "errors", show: errorsCell, sort: (n) => errorCounts[n] },
];

/** Items by a key; unknown ones last, equal ones as they stand. */
function sorted(items, sort, cells) {
  const [name, direction] = sort.split(".");
  const cell = cells.find((candidate) => candidate.name === name);
  if (!cell) return items;
  const keys = new Map(items.map((item) => [item, cell.sort(item)]));
  const sign = direction === "down" ? -1 : 1;
  const isUnknown = (key) => key === null || key === undefined;
  return items.toSorted((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)];
    if (isUnknown(a) || isUnknown(b)) return Number(isUnknown(a)) - Number(isUnknown(b));
    return a < b ? -sign : a > b ? sign : 0;
  });
}

/** Up, then down, then the order of the files again. */
function nextSort(sort, name) {
  if (sort === `${name}.up`) return `${name}.down`;
  return sort === `${name}.down` ? "" : `${name}.up`;
}

let sortedFor = [null, null];
let sortedShown = [];

function sortedEpisodes() {
  const items = shownEpisodes();
  if (sortedFor[0] !== items || sortedFor[1] !== state.sort) {
    sortedFor = [items, state.sort];
    sortedShown = sorted(items, state.sort, CELLS);
  }
  return sortedShown;
}

// -------------------------------------------------------------------------------------------------------- filters

/** A choice among names of a table; the value is the name's number, so that any name will do. */
function choices(table, column) {
  const counts = new Map();
  for (const at of column) counts.set(at, (counts.get(at) ?? 0) + 1);
  return table.map((name, at) => [String(at), `${plain(name)} (${whole.format(counts.get(at) ?? 0)})`]);
}

class FilterPanel {
  constructor() {
    this.controls = new Map();
    this.edges = new Map();
    const errorNumbers = columns.errors.flatMap((_, n) => errorsOf(n).map(([kind]) => index.errors.indexOf(kind)));
    const clean = errorCounts.filter((errors) => errors === 0).length;
    this.count = make("output", "count");
    this.count.setAttribute("aria-live", "polite");
    this.progress = make("span", "progress");
    this.progress.setAttribute("role", "status");
    this.clear = button("clear", "quiet", () => this.reset());
    this.clear.title = "Take all filters away";
    this.toggle = button("Filters", "filter-toggle", () => this.setOpen(!this.element.classList.contains("open")));
    const reward = this.group(
      "reward",
      this.select("reward", "Reward", choicesOf(index.rewards)),
      this.select(
        "is",
        "Its score",
        [
          ["unknown", "is unknown"],
          ["n", "is not asked for"],
        ],
        "from … to",
      ),
      this.number("from", "Least score"),
      dash(),
      this.number("to", "Greatest score"),
    );
    this.fields = make(
      "div",
      "fields",
      this.group("id", this.select("id", "Environment", choices(index.envs, columns.env))),
      this.group(
        "run",
        this.select(
          "run",
          "Run",
          choices(
            index.runs.map((run) => run.name),
            columns.run,
          ),
        ),
      ),
      this.group("policy", this.select("policy", "Policy", choices(index.policies, columns.policy))),
      this.group("dialect", this.select("dialect", "Dialect", choices(index.dialects, columns.dialect))),
      this.group(
        "ending",
        this.select(
          "ended",
          "Ending",
          choices(ENDINGS, columns.ended).filter(([, label]) => !label.endsWith("(0)")),
        ),
      ),
      this.group(
        "errors",
        this.select("error", "Errors", [
          ["none", `none (${whole.format(clean)})`],
          ["any", `any (${whole.format(total - clean)})`],
          ...choices(index.errors, errorNumbers),
        ]),
      ),
      this.group(
        "return",
        this.select("returned", "Return", [["unknown", "is unknown"]], "from … to"),
        this.number("low", "Least return"),
        this.edge("low", "above"),
        dash(),
        this.number("high", "Greatest return"),
        this.edge("high", "below"),
      ),
      reward,
      this.group("steps", this.number("least", "Fewest steps", "1"), dash(), this.number("most", "Most steps", "1")),
    );
    this.element = document.getElementById("filters");
    this.element.append(make("div", "filter-line", this.count, this.toggle, this.clear, this.progress), this.fields);
  }

  /** Says that an end of the range of returns is itself left out. */
  edge(side, word) {
    const mark = make("span", "edge", `(${word})`);
    mark.title = `This return itself is left out: ${word} it`;
    this.edges.set(side, mark);
    return mark;
  }

  group(label, ...controls) {
    return make("div", `filter filter-${label}`, make("span", "filter-label", label), ...controls);
  }

  select(name, label, options, all = "all") {
    const select = make("select");
    for (const [value, text] of [["", all], ...options]) {
      const option = make("option", "", beginning(text, Math.min(text.length, 120)));
      option.value = value;
      select.append(option);
    }
    return this.control(name, label, select, "change");
  }

  number(name, label, step = "any") {
    const input = make("input");
    input.type = "number";
    input.step = step;
    return this.control(name, label, input, "input");
  }

  control(name, label, element, event) {
    element.setAttribute("aria-label", label);
    element.dataset.filter = name;
    element.addEventListener(event, () =>
      change({ [name]: element.value, ...(name === "low" || name === "high" ? { edges: "" } : {}) }),
    );
    this.controls.set(name, element);
    return element;
  }

  setOpen(open) {
    this.element.classList.toggle("open", open);
    this.toggle.setAttribute("aria-expanded", String(open));
  }

  reset() {
    change(Object.fromEntries(FILTERS.map((name) => [name, DEFAULTS[name]])), { push: true });
    searchBox.value = "";
    this.read();
  }

  /** Set the controls to what the address says. */
  read() {
    for (const [name, element] of this.controls) element.value = state[name];
  }

  draw() {
    const items = shownEpisodes();
    const active = FILTERS.filter((name) => state[name] !== "" && name !== "edges").length;
    this.count.textContent = `${whole.format(items.length)} of ${whole.format(total)}`;
    this.clear.hidden = active === 0;
    this.toggle.textContent = active ? `Filters (${active})` : "Filters";
    for (const [side, mark] of this.edges) mark.hidden = !state.edges.includes(side) || state.returned !== "";
    for (const [name, element] of this.controls) element.classList.toggle("active", state[name] !== "");
    for (const name of ["low", "high"]) this.controls.get(name).hidden = state.returned !== "";
    for (const name of ["from", "to"]) this.controls.get(name).hidden = state.is !== "" || state.reward === "";
    this.controls.get("is").hidden = state.reward === "";
    for (const group of this.fields.children) {
      group.classList.toggle(
        "no-range",
        [...group.children].some((child) => child.hidden && child.type === "number"),
      );
    }
    this.drawProgress();
  }

  drawProgress() {
    if (search.query === "" || (!search.running && search.read === index.blocks)) {
      this.progress.replaceChildren();
    } else if (search.running) {
      const share = index.blocks ? Math.floor((100 * search.read) / index.blocks) : 100;
      const stop = button("cancel", "quiet", () => search.cancel());
      this.progress.replaceChildren(`reading all texts … ${share} % `, stop);
    } else {
      this.progress.replaceChildren(`search stopped: ${search.read} of ${index.blocks} parts were read`);
    }
  }
}

const dash = () => make("span", "dash", "–");
const choicesOf = (names) => names.map((name, at) => [String(at), plain(name)]);

// ---------------------------------------------------------------------------------------- what was asked, and made

/** The part of a task's goal of one kind; null where there is none. */
function goalOf(task, kind) {
  const goal = task?.goal;
  if (!goal) return null;
  return [goal, ...(goal.kind === "all" ? goal.goals : [])].find((part) => part.kind === kind) ?? null;
}

const UNANSWERED = new Set(["timeout", "unavailable"]);

/** As callgym.rewards.turns.asked_turns: the gold calls and the calls made that an explanation's numbers stand for. */
function askedTurns(goal, steps) {
  const free = new Set(goal.free ?? []);
  if (steps.length === 1 && goal.turns.length === 1 && !free.size && (steps[0].turn ?? 0) === 0) {
    return [{ gold: goal.turns[0], calls: steps[0].calls ?? [] }];
  }
  if (goal.scope === "episode") return [{ gold: goal.turns.flat(), calls: madeCalls(free, steps) }];
  const stepsOf = (turn) => steps.filter((step) => (step.turn ?? 0) === turn);
  const turns = goal.turns.map((gold, turn) => ({ gold, calls: madeCalls(free, stepsOf(turn)) }));
  const later = new Set(steps.map((step) => step.turn ?? 0).filter((turn) => turn >= goal.turns.length));
  for (const turn of [...later].sort((one, other) => one - other)) {
    const calls = madeCalls(free, stepsOf(turn));
    if (calls.length || stepsOf(turn).some((step) => step.errors?.length)) turns.push({ gold: [], calls });
  }
  return turns;
}

/** A call that nobody answered and that was made again counts once. */
function madeCalls(free, steps) {
  const kept = [];
  const later = new Set();
  for (const step of steps.toReversed()) {
    const calls = (step.calls ?? []).map((call, at) => [call, step.results?.[at]?.error ?? null]);
    for (const [call, error] of calls.toReversed()) {
      const key = `${call.name} ${canonical(call.arguments ?? {})}`;
      if (!free.has(call.name) && !(UNANSWERED.has(error) && later.has(key))) kept.push(call);
      later.add(key);
    }
  }
  return kept.reverse();
}

function canonical(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${entries.sort().join(",")}}`;
}

const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

// --------------------------------------------------------------------------------------------------- explanations

const VERDICTS = new Map([
  ["equal", ["✓", "equal"]],
  ["variant", ["✓", "accepted variant"]],
  ["half", ["½", "half: named, value wrong"]],
  ["wrong", ["✗", "wrong"]],
  ["missing", ["−", "missing"]],
  ["extra", ["+", "extra"]],
]);

/** A verdict as colour, mark and word. */
function verdictCell(verdict, words = null) {
  const known = VERDICTS.get(verdict);
  const [mark, word] = known ?? ["?", verdict];
  const cell = make("td", `verdict ${known ? `verdict-${verdict}` : ""}`.trim());
  cell.append(make("span", "verdict-mark", mark), " ");
  cell.append(known ? (words ?? word) : inline(word));
  return cell;
}

const rightOrWrong = (right, word) => verdictCell(right ? "equal" : "wrong", word);

function compareTable(head, classes = "") {
  const heads = head.map((title) => {
    const cell = make("th", "", title);
    cell.scope = "col";
    return cell;
  });
  const body = make("tbody");
  return {
    element: make("table", `verdicts ${classes}`.trim(), make("thead", "", make("tr", "", ...heads)), body),
    body,
  };
}

const absent = () => make("span", "nothing", "–");

/** What is accepted for an argument: the reference, and the other values. */
function acceptedBox(values, optional) {
  if (!values) return absent();
  const box = make("div", "accepted");
  values.forEach((value, at) => {
    if (at) box.append(make("span", "or", "or"));
    box.append(valueBox(value));
  });
  if (optional) box.append(make("span", "or", "(may be left out)"));
  return box;
}

function argumentRow(name, made, gold, verdictTd, classes = "") {
  const head = make("th", "", inline(name));
  head.scope = "row";
  return make("tr", classes, head, make("td", "made", made), make("td", "gold", gold), verdictTd);
}

function callRow(name, words, classes, verdictTd = null) {
  const cell = make("th", "call-head", inline(name, "call-name"), " ", make("span", "quiet-words", words));
  cell.colSpan = verdictTd ? 3 : 4;
  cell.scope = "rowgroup";
  return make("tr", `call-row ${classes}`, cell, verdictTd);
}

/** The rows of a pair: each argument's verdict with what was made and what is accepted. */
function pairRows(pair, gold, made) {
  const known = made && made.name === pair.name;
  const wanted = gold && gold.name === pair.name ? gold : null;
  const f1 = typeof pair.f1 === "number" ? `, argument F1 ${score(pair.f1)}` : "";
  const rows = [callRow(pair.name, `gold ${pair.gold + 1}, made ${pair.predicted + 1}${f1}`, "matched-call")];
  const verdicts = Object.entries(pair.arguments ?? {});
  for (const [name, verdict] of verdicts) {
    const value = known ? own(made.arguments, name) : undefined;
    const accepted = wanted ? own(wanted.arguments, name) : undefined;
    rows.push(
      argumentRow(
        name,
        value === undefined ? absent() : valueBox(value),
        acceptedBox(accepted, wanted?.optional?.includes(name)),
        verdictCell(verdict),
      ),
    );
  }
  if (!verdicts.length)
    rows.push(argumentRow("(no arguments)", absent(), absent(), verdictCell("equal", "nothing to compare")));
  return rows;
}

function missingRows(name, gold) {
  const rows = [callRow(name, "asked for and not made", "missing-call", verdictCell("missing", "missing call"))];
  for (const [argument, accepted] of Object.entries(gold?.arguments ?? {})) {
    const optional = gold.optional?.includes(argument);
    rows.push(argumentRow(argument, absent(), acceptedBox(accepted, optional), make("td", "verdict"), "of-missing"));
  }
  return rows;
}

function extraRows(name, made) {
  const rows = [callRow(name, "made and not asked for", "extra-call", verdictCell("extra", "extra call"))];
  for (const [argument, value] of Object.entries(made?.arguments ?? {})) {
    rows.push(argumentRow(argument, valueBox(value), absent(), make("td", "verdict"), "of-extra"));
  }
  return rows;
}

/** The calls that have no partner: by the explanation's names, found again where goal and steps are there. */
function leftOver(names, calls, taken) {
  const rest = (calls ?? []).filter((_, at) => !taken.has(at));
  const agrees =
    names === undefined || (rest.length === names.length && rest.every((call, at) => call.name === names[at]));
  if (agrees) return rest.map((call) => [call.name, call]);
  return names.map((name) => [String(name), null]);
}

function turnTable(turn, number, of, asked) {
  const matched = turn.matched;
  const missing = leftOver(turn.missing, asked?.gold, new Set(matched.map((pair) => pair.gold)));
  const extra = leftOver(turn.extra, asked?.calls, new Set(matched.map((pair) => pair.predicted)));
  const unreadable = turn.unreadable ?? 0;
  const { element, body } = compareTable(["argument", "made", "gold", "verdict"], "calls");
  for (const pair of matched) body.append(...pairRows(pair, asked?.gold[pair.gold], asked?.calls[pair.predicted]));
  for (const [name, gold] of missing) body.append(...missingRows(name, gold));
  for (const [name, made] of extra) body.append(...extraRows(name, made));
  const words = [
    of > 1 ? `turn ${number + 1}:` : "",
    `${matched.length + missing.length} asked for, ${matched.length + extra.length + unreadable} made`,
    turn.reached === false ? "(not reached)" : "",
    unreadable ? `(${count(unreadable, "unreadable attempt")})` : "",
  ];
  const title = make("p", "turn-title", words.filter(Boolean).join(" "));
  return make("div", "turn", title, body.childElementCount ? element : null);
}

const comparesCalls = (turn) => isObject(turn) && Array.isArray(turn.matched);
const comparesEffects = (turn) =>
  isObject(turn) && ["gold", "made", "copies", "error"].every((key) => Object.hasOwn(turn, key));
const allOf = (list, test) => Array.isArray(list) && list.length > 0 && list.every(test);

function explainCalls(explanation, episode, task) {
  const goal = goalOf(task, "calls");
  const asked = goal ? askedTurns(goal, episode.steps ?? []) : [];
  const turns = explanation.turns.map((turn, at) => turnTable(turn, at, explanation.turns.length, asked[at]));
  const { turns: _, ...rest } = explanation;
  return [
    goal ? null : make("p", "note", "The task's gold is not here: only names are shown."),
    ...turns,
    restOf(rest),
  ];
}

function restOf(rest) {
  return Object.keys(rest).length ? objectTable(rest) : null;
}

/** A call as one text. */
function callText(name, parameters) {
  const given = Object.entries(parameters ?? {}).map(([key, value]) => `${key}=${jsonText(value)}`);
  return `${name}(${given.join(", ")})`;
}

/** Calls of a turn, one below the other, under their number. */
function callList(number, calls, textOfCall) {
  const box = make("div", "call-list", make("span", "number", `${jsonText(number)}`));
  for (const call of calls ?? [])
    box.append(textBox(textOfCall(call), { most: LONGEST_ANSWER_OPEN, classes: "value" }));
  return box;
}

const referenceText = (gold) =>
  callText(
    gold.name,
    Object.fromEntries(Object.entries(gold.arguments ?? {}).map(([key, values]) => [key, values[0]])),
  );

/** Turns of which the effects were compared, not the calls: the gold calls are one way of several. */
function explainEffects(explanation, episode, task) {
  const goal = goalOf(task, "calls");
  const { element, body } = compareTable(["turn", "made", "gold", "verdict"], "effects");
  explanation.turns.forEach((turn, at) => {
    const calls = (episode.steps ?? []).filter((step) => (step.turn ?? 0) === at).flatMap((step) => step.calls ?? []);
    const verdict = turn.error
      ? verdictCell("wrong", "")
      : verdictCell("equal", turn.gold ? "passed" : "nothing to do");
    if (turn.error) {
      verdict.append(inline(String(turn.error)));
      if (turn.message) verdict.append(textBox(String(turn.message), { most: LONGEST_ANSWER_OPEN }));
    }
    if (turn.copies) verdict.append(make("p", "", `${jsonText(turn.copies)} of them copies`));
    const made = callList(turn.made, calls, (call) => callText(call.name, call.arguments));
    body.append(argumentRow(String(at + 1), made, callList(turn.gold, goal?.turns[at], referenceText), verdict));
  });
  const { turns: _, ...rest } = explanation;
  return [element, restOf(rest)];
}

function madeAndGold(name, made, gold, verdict) {
  const { element, body } = compareTable(["", "made", "gold", "verdict"]);
  body.append(argumentRow(name, made, gold, verdict));
  return element;
}

const DUE = new Map([
  ["call", "called"],
  ["ask", "asked"],
  ["decline", "declined"],
  ["answer", "answered"],
]);

function explainDecision(explanation, value, task) {
  const { outcome, expected, ...rest } = explanation;
  const goal = goalOf(task, "decision");
  const due = expected ?? goal?.decision ?? "decline";
  const gold = make("div", "", inline(String(due)), " ");
  if (goal?.reply) gold.append(make("span", "or", "a reference reply:"), textBox(goal.reply));
  const right = value === null ? verdictCell("half", "unknown") : decisionVerdict(value);
  const words = DUE.get(due) === outcome || outcome === "abstained" ? "" : `(due: ${DUE.get(due) ?? due})`;
  const made = make("div", "", inline(String(outcome)), " ", make("span", "quiet-words", plain(words)));
  return [madeAndGold("decision", made, gold, right), restOf(rest)];
}

function decisionVerdict(value) {
  if (value > 0 && value < 1) return verdictCell("half", "in part");
  return rightOrWrong(value === 1, value === 1 ? "right" : "wrong");
}

function explainAnswer(explanation, value, task) {
  const { answer, ...rest } = explanation;
  const goal = goalOf(task, "answer");
  const graded = value !== null && value > 0 && value < 1;
  const verdict = graded
    ? verdictCell("half", `in part: ${score(value)}`)
    : rightOrWrong(value === 1, value === 1 ? "accepted" : "not accepted");
  return [
    madeAndGold("answer", textBox(answer), goal ? acceptedBox(goal.accepted, false) : absent(), verdict),
    restOf(rest),
  ];
}

function explainState(explanation, episode, task) {
  const goal = goalOf(task, "state");
  const { differs, ...rest } = explanation;
  const { element, body } = compareTable(["state", "made", "gold", "verdict"], "state");
  for (const name of differs) {
    const [made, gold] = [own(episode.state, name), own(goal?.state, name)];
    const boxes = [made, gold].map((value) => (value === undefined ? absent() : valueBox(value)));
    body.append(argumentRow(String(name), boxes[0], boxes[1], verdictCell("wrong", "differs")));
  }
  const names = Object.keys({ ...goal?.state }).filter((name) => !differs.includes(name));
  if (!differs.length && goal)
    for (const name of names) {
      body.append(
        argumentRow(name, valueBox(own(episode.state, name)), valueBox(own(goal.state, name)), verdictCell("equal")),
      );
    }
  return [body.childElementCount ? element : make("p", "note", "Nothing differs."), restOf(rest)];
}

function explainText(explanation, value, episode, task) {
  const reply =
    (episode.steps ?? [])
      .map((step) => textOf(step.content))
      .filter(Boolean)
      .at(-1) ?? "";
  const verdict =
    value === 1 ? verdictCell("equal") : verdictCell(value > 0 ? "half" : "wrong", `likeness ${score(value)}`);
  return [madeAndGold("reply", textBox(reply), textBox(goalOf(task, "text").reference), verdict), restOf(explanation)];
}

/** What a score is made of, as nodes. */
function explain(name, given, episode, task) {
  const explanation = given.explanation ?? {};
  const value = given.value ?? null;
  if (allOf(explanation.turns, comparesCalls)) {
    const decision = typeof explanation.outcome === "string";
    const { turns, ...rest } = explanation;
    const calls = explainCalls(decision ? { turns } : explanation, episode, task);
    return decision ? [...explainDecision(rest, value, task), ...calls] : calls;
  }
  if (allOf(explanation.turns, comparesEffects)) return explainEffects(explanation, episode, task);
  if (typeof explanation.outcome === "string") return explainDecision(explanation, value, task);
  if (typeof explanation.answer === "string" && "match" in explanation) return explainAnswer(explanation, value, task);
  if (Array.isArray(explanation.differs)) return explainState(explanation, episode, task);
  if ("reference_words" in explanation && goalOf(task, "text")) return explainText(explanation, value, episode, task);
  return explainAnything(name, explanation, episode);
}

function explainAnything(name, explanation, episode) {
  const entries = Object.entries(explanation);
  const isShort = (value) => typeof value === "string" || jsonText(value).length <= 60;
  const nodes = [];
  if (entries.length && entries.every(([, value]) => isShort(value))) nodes.push(objectTable(explanation));
  else if (entries.length) nodes.push(textBox(jsonText(explanation), { classes: "value tree" }));
  const lines = own(episode.lines, name) ?? [];
  // A single line is the same JSON once more.
  if (lines.length > 1) nodes.push(textBox(lines.join("\n"), { classes: "value" }));
  return nodes;
}

// ----------------------------------------------------------------------------------------------------- one episode

function part(label, kind, ...children) {
  return make("div", `part ${kind}`, make("h4", "part-label", label), make("div", "part-body", ...children));
}

function callBlock(call, result, number, of) {
  const parameters = Object.entries(call.arguments ?? {});
  const head = make(
    "p",
    "call-title",
    of > 1 ? make("span", "quiet-words", `${number + 1}. `) : null,
    inline(call.name, "call-name"),
  );
  if (call.id) head.append(make("span", "quiet-words", " id "), inline(call.id, "quiet-words"));
  const table = parameters.length ? factTable(parameters, "arguments") : make("p", "nothing", "no arguments");
  return make(
    "div",
    "call",
    head,
    table,
    result ? resultBlock(result) : make("p", "nothing", "no result: it was not run"),
  );
}

function resultBlock(result) {
  if (result.error) {
    const label = make("p", "result-label error-text", "✗ ", inline(result.error));
    const message = result.message ? textBox(textOf(result.message), { most: LONGEST_ANSWER_OPEN }) : null;
    return make("div", "result failed-result", label, message);
  }
  const content = result.content ?? null;
  const text = typeof content === "string" ? content : jsonText(content);
  return make(
    "div",
    "result",
    make("p", "result-label", "result"),
    textBox(text, { most: LONGEST_ANSWER_OPEN, classes: "value" }),
  );
}

function errorBlock(error, action, number, of) {
  const text = [...beginning(action.slice(0, offsetOf(action, error.position) + 200), 1e9)];
  const around = [
    text.slice(Math.max(0, error.position - 40), error.position),
    text.slice(error.position, error.position + 40),
  ];
  const excerpt = make("code", "excerpt");
  excerpt.dir = "auto";
  excerpt.append(
    error.position > 40 ? "…" : "",
    foreign(around[0].join("")),
    make("mark", "fault-place", "▸"),
    foreign(around[1].join("")),
    "…",
  );
  const label = make("p", "error-text", `✗ ${of > 1 ? `${number + 1}. ` : ""}could not be read: `, inline(error.kind));
  label.append(` at character ${whole.format(error.position)}`);
  return make("div", "parse-error", label, textBox(textOf(error.message), { most: LONGEST_ANSWER_OPEN }), excerpt);
}

function stepBlock(step, number, running, timed) {
  const action = textOf(step.action);
  const errors = step.errors ?? [];
  const calls = step.calls ?? [];
  const content = textOf(step.content);
  const reasoning = textOf(step.reasoning);
  const observation = textOf(step.observation);
  const written = [textBox(action, { marks: errors.map((error) => error.position) })];
  written.push(...errors.map((error, at) => errorBlock(error, action, at, errors.length)));
  if (reasoning)
    written.push(
      folded(`reasoning, set aside (${count(characters(reasoning), "character")})`, () => textBox(reasoning)),
    );
  if (content && content !== action)
    written.push(
      folded(`words beside calls and reasoning (${count(characters(content), "character")})`, () => textBox(content)),
    );
  const block = make(
    "section",
    "step",
    stepHead(step, number, running, timed),
    part("policy", "of-policy", ...written),
  );
  if (calls.length)
    block.append(
      part(
        calls.length === 1 ? "call" : "calls",
        "of-tools",
        ...calls.map((call, at) => callBlock(call, step.results?.[at], at, calls.length)),
      ),
    );
  if (observation)
    block.append(part("observation", "of-environment", textBox(observation, { most: LONGEST_ANSWER_OPEN })));
  block.setAttribute("aria-label", `Step ${number + 1}`);
  return block;
}

function stepHead(step, number, running, timed) {
  const reward = step.reward === undefined ? 0 : step.reward;
  const head = make(
    "header",
    "step-head",
    make("h3", "", `step ${number + 1}`),
    make("span", "quiet-words", `turn ${(step.turn ?? 0) + 1}`),
  );
  const paid = make(
    "span",
    "step-reward",
    "reward ",
    make("b", reward ? "earned" : "", reward === null ? "unknown" : signed(reward)),
  );
  head.append(paid, make("span", "quiet-words", `total ${score(running)}`));
  if (step.times)
    head.append(make("span", "times", `write ${seconds(step.times[0])} · play ${seconds(step.times[1])}`));
  else if (timed) head.append(make("span", "times", "time unknown"));
  return head;
}

/** The sums of the step rewards so far; null from an unknown one on. */
function runningTotals(steps) {
  let sum = 0;
  return steps.map((step) => {
    const reward = step.reward === undefined ? 0 : step.reward;
    sum = sum === null || reward === null ? null : sum + reward;
    return sum;
  });
}

function stepBlocks(episode, timed) {
  const steps = episode.steps ?? [];
  const totals = runningTotals(steps);
  return steps.map((step, at) => stepBlock(step, at, totals[at], timed));
}

function messageBlock(message) {
  const calls = (message.tool_calls ?? []).map((call) => call.function ?? call);
  const block = make("div", "message", make("h4", "part-label", inline(message.role ?? "")));
  if (message.name) block.append(inline(message.name, "quiet-words"));
  const content = textOf(message.content);
  if (content) block.append(textBox(content));
  for (const call of calls)
    block.append(make("p", "call-title", inline(call.name, "call-name")), objectTable(call.arguments ?? {}));
  return block;
}

function toolBlock(tool) {
  const description = textOf(tool.description);
  const parameters = () => textBox(jsonText(tool.parameters ?? {}), { classes: "value" });
  return make(
    "div",
    "tool",
    inline(tool.name, "call-name"),
    description ? textBox(description, { classes: "prose" }) : null,
    folded("parameters", parameters),
  );
}

function promptBlock(episode, task) {
  const prompt = textOf(episode.prompt);
  const length = count(characters(prompt), "character");
  const nodes = [];
  if (task?.messages?.length)
    nodes.push(
      folded(
        `conversation so far (${count(task.messages.length, "message")})`,
        () => make("div", "messages", ...task.messages.map(messageBlock)),
        true,
      ),
    );
  nodes.push(folded(`prompt (${length})`, () => textBox(prompt), prompt.length <= 600 && !task));
  if (task?.tools?.length)
    nodes.push(
      folded(`tools (${whole.format(task.tools.length)})`, () => make("div", "tools", ...task.tools.map(toolBlock))),
    );
  if (task?.user_turns?.length)
    nodes.push(
      folded(`what the user says later (${task.user_turns.length})`, () =>
        make(
          "div",
          "messages",
          ...task.user_turns.map((turn) => messageBlock({ role: "user", content: turn.content })),
        ),
      ),
    );
  return make("section", "prompt", make("h3", "section-title", "Task"), ...nodes);
}

function goldBlock(task) {
  if (!task) return make("p", "note", "The gold of this task was not found; the banner above says why.");
  return folded("gold: what makes it right", () => textBox(jsonText(task.goal), { classes: "value" }));
}

function scoreLabel(given) {
  if (given.applies === false) return make("span", "nothing", "not asked for");
  const value = given.value ?? null;
  if (value === null) return make("span", "unknown", "unknown");
  return make("span", "score-value", bar(value), make("b", "number", score(value)));
}

function rewardBlock(name, given, episode, task, seen) {
  const key = canonical(given.explanation ?? {});
  const twin = seen.get(key);
  if (key !== "{}") seen.set(key, name);
  const block = make(
    "section",
    "reward",
    make("header", "reward-head", make("h4", "", inline(name)), scoreLabel(given)),
  );
  block.dataset.reward = name;
  if (twin !== undefined) block.append(make("p", "note", "explained above, with ", inline(twin)));
  else block.append(...explain(name, given, episode, task).filter(Boolean));
  return block;
}

function rewardBlocks(episode, task) {
  const all = Object.entries(episode.rewards ?? {});
  const asked = all.filter(([, given]) => given.applies !== false);
  const others = all.filter(([, given]) => given.applies === false);
  const seen = new Map();
  const nodes = asked.map(([name, given]) => rewardBlock(name, given, episode, task, seen));
  if (!asked.length) nodes.push(make("p", "nothing", "no reward of the rubric applies to this task"));
  if (others.length) {
    const reason = (given) => inline(String(given.explanation?.reason ?? "the goal is of another kind"));
    const rows = others.map(([name, given]) => [name, make("span", "nothing", "not asked for: ", reason(given))]);
    nodes.push(factTable(rows, "not-asked"));
  }
  return nodes;
}

function fact(label, ...content) {
  return make("div", "fact", make("dt", "", label), make("dd", "", ...content));
}

/** The rubric of a run; where its episodes were paid by several, all of them. */
const rubricsOf = (run) => (run.rubrics.length > 1 ? `one of ${run.rubrics.join(", ")}` : (run.rubrics[0] ?? "–"));

function episodeFacts(number, episode) {
  const run = runOf(number);
  const value = returnOf(number);
  const data = episode.config?.data ?? episode.data;
  const facts = make(
    "dl",
    "episode-facts",
    fact(
      "return",
      value === null
        ? make("span", "unknown", "unknown")
        : make("span", "score-value", bar(value), make("b", "number", score(value))),
    ),
    fact("ending", endingBadge(columns.ended[number])),
    fact("steps", whole.format(columns.steps[number])),
    fact("errors", errorsCell(number)),
    fact("policy", inline(policyOf(number) || "–")),
    fact("dialect", inline(dialectOf(number) || "–")),
    fact("seed", inline(seedOf(number), "number")),
    fact("rubric", inline(episode.rubric ?? rubricsOf(run))),
  );
  if (data) facts.append(fact("data", inline(String(data))));
  const time = columns.seconds?.[number] ?? null;
  if (time !== null) facts.append(fact("time", seconds(time)));
  return facts;
}

function episodeNotes(number, episode) {
  const notes = [];
  if (episode.failure)
    notes.push(
      make("div", "failure", make("h3", "", "This episode could not be played"), objectTable(episode.failure)),
    );
  for (const note of episode.cut ?? []) notes.push(make("p", "note", "shortened in this page: ", inline(String(note))));
  if (!runOf(number).timed && (episode.steps ?? []).length)
    notes.push(
      make("p", "note", "No times were recorded; ", make("code", "", "callgym eval --times"), " records them."),
    );
  return notes;
}

function jsonSection(title, value) {
  if (value === null || value === undefined || (isObject(value) && !Object.keys(value).length)) return null;
  return folded(title, () => (isObject(value) ? objectTable(value) : textBox(jsonText(value), { classes: "value" })));
}

function episodeView(number, episode, task) {
  const steps = stepBlocks(episode, runOf(number).timed);
  const title = make("h2", "episode-title", inline(taskOf(number) || "(no task)"));
  title.tabIndex = -1;
  const under = make(
    "p",
    "episode-under",
    inline(envOf(number)),
    " · ",
    runName(columns.run[number]),
    ` · episode ${columns.index[number]}`,
  );
  const closer = button("✕", "close", () => change({ open: "" }, { push: true }));
  closer.setAttribute("aria-label", "Close the episode");
  closer.title = "Close (Esc)";
  return make(
    "article",
    "episode",
    make("header", "episode-head", closer, title, under, episodeFacts(number, episode)),
    ...episodeNotes(number, episode),
    promptBlock(episode, task),
    make(
      "section",
      "steps",
      make("h3", "section-title", "Conversation"),
      ...(steps.length ? steps : [make("p", "nothing", "no steps")]),
    ),
    make("section", "rewards", make("h3", "section-title", "Rewards"), ...rewardBlocks(episode, task), goldBlock(task)),
    make(
      "section",
      "rest",
      jsonSection("state at the end", episode.state),
      jsonSection("injected faults", episode.faults),
      jsonSection("configuration", episode.config),
    ),
  );
}

/** Mark what was searched for, without a change to the document. */
function highlight(element) {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  const wanted = state.q.toLowerCase();
  if (!wanted) return;
  const ranges = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < 500) {
    const text = walker.currentNode.data.toLowerCase();
    if (text.length !== walker.currentNode.data.length) continue;
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 500; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

// --------------------------------------------------------------------------------------------- two runs side by side

let pairedFor = "";
let pairs = [];

/** The episodes of two runs, task by task: first those of the same seed, then in their order. */
function pairsOf(a, b) {
  const tasks = new Map();
  for (let number = 0; number < total; number++) {
    const side = columns.run[number] === a ? "a" : columns.run[number] === b ? "b" : null;
    if (side === null) continue;
    const key = `${columns.env[number]} ${columns.task[number]}`;
    if (!tasks.has(key)) tasks.set(key, { a: [], b: [] });
    tasks.get(key)[side].push(number);
  }
  return [...tasks.values()].flatMap(pairsOfTask);
}

function pairsOfTask({ a, b }) {
  const waiting = new Map();
  for (const number of b) {
    const seed = seedOf(number);
    if (!waiting.has(seed)) waiting.set(seed, []);
    waiting.get(seed).push(number);
  }
  const partner = new Map();
  for (const number of a) {
    const found = waiting.get(seedOf(number))?.shift();
    if (found !== undefined) partner.set(number, found);
  }
  const rest = b.filter((number) => [...waiting.values()].some((numbers) => numbers.includes(number)));
  const paired = a.map((number) => ({ a: number, b: partner.get(number) ?? rest.shift() ?? null }));
  return [...paired, ...rest.map((number) => ({ a: null, b: number }))];
}

const sideReturn = (number) => (number === null ? undefined : returnOf(number));

function differenceOf({ a, b }) {
  const [before, after] = [sideReturn(a), sideReturn(b)];
  return typeof before === "number" && typeof after === "number" ? after - before : null;
}

/** better, worse, equal, unknown, or only in one of the runs. */
function outcomeOf(pair) {
  if (pair.b === null) return "only-a";
  if (pair.a === null) return "only-b";
  const difference = differenceOf(pair);
  if (difference === null) return "unknown";
  return Math.abs(difference) < 1e-9 ? "equal" : difference > 0 ? "better" : "worse";
}

const OUTCOMES = [
  ["better", "better in B"],
  ["worse", "worse in B"],
  ["equal", "equal"],
  ["unknown", "unknown"],
  ["only-a", "only in A"],
  ["only-b", "only in B"],
];
const MARKS = new Map([
  ["better", "▲"],
  ["worse", "▼"],
  ["equal", "="],
  ["unknown", "?"],
  ["only-a", "A"],
  ["only-b", "B"],
]);

function differenceCell(pair) {
  const outcome = outcomeOf(pair);
  const difference = differenceOf(pair);
  const words = difference === null ? OUTCOMES.find(([name]) => name === outcome)[1] : signed(difference);
  return make("span", `difference ${outcome}`, make("span", "mark", MARKS.get(outcome)), ` ${words}`);
}

const eitherOf = (pair) => pair.a ?? pair.b;
const PAIR_CELLS = [
  { name: "id", title: "id", show: (p) => lineCell(envOf(eitherOf(pairs[p]))), sort: (p) => envOf(eitherOf(pairs[p])) },
  {
    name: "task",
    title: "task",
    show: (p) => lineCell(taskOf(eitherOf(pairs[p]))),
    sort: (p) => taskOf(eitherOf(pairs[p])),
  },
  {
    name: "return-a",
    title: "return A",
    show: (p) => returnCell(sideReturn(pairs[p].a)),
    sort: (p) => sideReturn(pairs[p].a),
  },
  {
    name: "return-b",
    title: "return B",
    show: (p) => returnCell(sideReturn(pairs[p].b)),
    sort: (p) => sideReturn(pairs[p].b),
  },
  {
    name: "difference",
    title: "difference",
    show: (p) => differenceCell(pairs[p]),
    sort: (p) => differenceOf(pairs[p]),
  },
];

let shownPairsFor = [];
let shownPairs = [];

/** Pairs of which one side passes the filters, whatever run they name, in the order asked for. */
function comparedPairs() {
  const key = `${state.a} ${state.b}`;
  if (pairedFor !== key) {
    pairedFor = key;
    pairs = pairsOf(Number(state.a), Number(state.b));
  }
  const wanted = [key, state.pairs, state.order, search.version, ...FILTERS.map((name) => state[name])];
  if (wanted.some((value, at) => value !== shownPairsFor[at])) {
    shownPairsFor = wanted;
    const passes = filterTest({ anyRun: true });
    const isShown = (pair) => (pair.a !== null && passes(pair.a)) || (pair.b !== null && passes(pair.b));
    const kept = pairs.map((_, at) => at).filter((at) => isShown(pairs[at]));
    const chosen = kept.filter((at) => state.pairs === "" || outcomeOf(pairs[at]) === state.pairs);
    shownPairs = sorted(chosen, state.order, PAIR_CELLS);
    compareView.drawSummary(kept);
  }
  return shownPairs;
}

class CompareView {
  constructor() {
    this.list = new VirtualList({
      name: "pairs",
      label: "Pairs of episodes",
      cells: PAIR_CELLS,
      onOpen: (item, options) => change({ pair: String(item) }, options),
      onSort: (name) => change({ order: nextSort(state.order, name) }),
    });
    this.runs = ["a", "b"].map((side) =>
      this.choice(
        side,
        `Run ${side.toUpperCase()}`,
        choices(
          index.runs.map((run) => run.name),
          columns.run,
        ),
      ),
    );
    this.outcome = this.choice("pairs", "Outcome", [["", "all"], ...OUTCOMES]);
    this.summary = make("div", "summary");
    this.summary.setAttribute("role", "status");
    const swap = button("⇄", "quiet", () => change({ a: state.b, b: state.a, pair: "" }));
    swap.setAttribute("aria-label", "Swap the runs");
    this.head = make(
      "div",
      "compare-head",
      make("label", "", "A ", this.runs[0]),
      swap,
      make("label", "", "B ", this.runs[1]),
      make("label", "", "outcome ", this.outcome),
      this.summary,
    );
    this.detail = make("div", "detail");
    this.detail.setAttribute("role", "region");
    this.detail.setAttribute("aria-label", "Pair of episodes");
    this.element = make("div", "view compare", this.head, make("div", "panes", this.list.element, this.detail));
    this.opened = null;
  }

  choice(name, label, options) {
    const select = make("select");
    for (const [value, text] of options) {
      const option = make("option", "", beginning(text, Math.min(text.length, 120)));
      option.value = value;
      select.append(option);
    }
    select.setAttribute("aria-label", label);
    select.dataset.compare = name;
    select.addEventListener("change", () =>
      change({ [name]: select.value, ...(name === "pairs" ? {} : { pair: "" }) }),
    );
    return select;
  }

  draw() {
    this.runs[0].value = state.a;
    this.runs[1].value = state.b;
    this.outcome.value = state.pairs;
    const items = comparedPairs();
    this.list.setItems(items, state.order);
    const pair = state.pair === "" ? null : (pairs[Number(state.pair)] ?? null);
    this.element.classList.toggle("with-detail", pair !== null);
    return this.drawDetail(pair, `${pairedFor} ${state.pair}`);
  }

  drawSummary(kept) {
    const both = kept.map((at) => pairs[at]).filter((pair) => differenceOf(pair) !== null);
    const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
    const [a, b, difference] = [(p) => returnOf(p.a), (p) => returnOf(p.b), differenceOf].map((of) =>
      mean(both.map(of)),
    );
    const counts = OUTCOMES.map(([name, words]) => [
      name,
      words,
      kept.filter((at) => outcomeOf(pairs[at]) === name).length,
    ]);
    this.summary.replaceChildren(
      make(
        "span",
        "means",
        `${count(both.length, "pair")} with both returns: mean A `,
        make("b", "", score(a)),
        " · mean B ",
        make("b", "", score(b)),
        " · difference ",
        make("b", "", difference === null ? "unknown" : signed(difference)),
      ),
      ...counts
        .filter(([, , times]) => times)
        .map(([name, words, times]) => {
          const chip = button(`${MARKS.get(name)} ${words} ${whole.format(times)}`, `chip ${name}`, () =>
            change({ pairs: state.pairs === name ? "" : name }),
          );
          chip.setAttribute("aria-pressed", String(state.pairs === name));
          return chip;
        }),
    );
  }

  async drawDetail(pair, key) {
    if (this.opened === key) return;
    this.opened = key;
    if (pair === null) {
      this.detail.replaceChildren();
      return;
    }
    const read = (number) => (number === null ? null : readEpisode(number));
    const [a, b, task] = await Promise.all([read(pair.a), read(pair.b), readTask(eitherOf(pair))]);
    if (this.opened !== key) return;
    this.detail.replaceChildren(pairView(pair, a, b, task));
    this.detail.scrollTop = 0;
    this.list.select(Number(state.pair));
    highlight(this.detail);
  }
}

function pairView(pair, a, b, task) {
  const closer = button("✕", "close", () => change({ pair: "" }, { push: true }));
  closer.setAttribute("aria-label", "Close the pair");
  const number = eitherOf(pair);
  const head = make(
    "header",
    "episode-head",
    closer,
    make("h2", "episode-title", inline(taskOf(number))),
    make("p", "episode-under", inline(envOf(number)), " · ", differenceCell(pair)),
  );
  const sides = [
    [pair.a, a],
    [pair.b, b],
  ];
  return make(
    "article",
    "episode pair",
    head,
    make("div", "columns", ...sides.map(([n, episode], at) => sideHead("AB"[at], n, episode))),
    promptBlock(a ?? b, task),
    make("section", "steps", make("h3", "section-title", "Conversation"), ...alignedSteps(sides)),
    make(
      "section",
      "rewards",
      make("h3", "section-title", "Rewards"),
      rewardDifferences(a, b),
      ...pairedRewards(a, b, task),
      goldBlock(task),
    ),
  );
}

function sideHead(letter, number, episode) {
  if (number === null)
    return make(
      "div",
      "side",
      make("p", "side-title", `${letter} `),
      make("p", "nothing", "this run has no such episode"),
    );
  const opener = button("open alone", "quiet", () =>
    change({ view: "episodes", open: String(number) }, { push: true }),
  );
  return make(
    "div",
    "side",
    make(
      "p",
      "side-title",
      make("b", "", letter),
      " ",
      runName(columns.run[number]),
      ` · episode ${columns.index[number]} `,
      opener,
    ),
    episodeFacts(number, episode),
    ...(episode.failure ? [objectTable(episode.failure)] : []),
  );
}

function alignedSteps(sides) {
  const blocks = sides.map(([number, episode]) => (episode ? stepBlocks(episode, runOf(number).timed) : []));
  const longest = Math.max(...blocks.map((steps) => steps.length));
  return Array.from({ length: longest }, (_, at) =>
    make("div", "columns", ...blocks.map((steps) => steps[at] ?? make("div", "no-step nothing", "no step"))),
  );
}

const rewardNames = (...episodes) => [...new Set(episodes.flatMap((episode) => Object.keys(episode?.rewards ?? {})))];

function rewardDifferences(a, b) {
  const { element, body } = compareTable(["reward", "A", "B", "difference"], "reward-differences");
  const row = (name, given) => {
    const values = given.map((one) => (one && one.applies !== false ? (one.value ?? null) : undefined));
    const difference = values.every((value) => typeof value === "number") ? values[1] - values[0] : null;
    const outcome =
      difference === null ? "" : Math.abs(difference) < 1e-9 ? "equal" : difference > 0 ? "better" : "worse";
    const words =
      difference === null
        ? make("span", "nothing", "–")
        : make("span", `difference ${outcome}`, `${MARKS.get(outcome)} ${signed(difference)}`);
    const head = make("th", "", inline(name));
    head.scope = "row";
    return make(
      "tr",
      "",
      head,
      ...given.map((one) => make("td", "", one ? scoreLabel(one) : absent())),
      make("td", "", words),
    );
  };
  for (const name of rewardNames(a, b)) body.append(row(name, [own(a?.rewards, name), own(b?.rewards, name)]));
  return element;
}

function pairedRewards(a, b, task) {
  const seen = [new Map(), new Map()];
  const applies = (episode, name) => own(episode?.rewards, name)?.applies !== false && own(episode?.rewards, name);
  return rewardNames(a, b)
    .filter((name) => applies(a, name) || applies(b, name))
    .map((name) =>
      make(
        "div",
        "columns",
        ...[a, b].map((episode, side) => {
          const given = own(episode?.rewards, name);
          return given ? rewardBlock(name, given, episode, task, seen[side]) : make("div", "nothing", "not scored");
        }),
      ),
    );
}

// --------------------------------------------------------------------------------------------------------- charts

const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

const BAR_HEIGHT = 15;
const BAR_GAP = 3;
const GROUP_GAP = 9;

/** Bars in groups, with the numbers as text. A bar: {run, value, share, label, click, facts}. */
function barChart(name, title, note, groups, width) {
  const left = Math.round(Math.min(190, width * 0.36));
  const right = 96;
  const room = Math.max(40, width - left - right);
  const nodes = [];
  let y = 4;
  for (const { label, bars } of groups) {
    const text = draw("text", {
      x: left - 8,
      y: y + BAR_HEIGHT / 2 + ((bars.length - 1) * (BAR_HEIGHT + BAR_GAP)) / 2,
      class: "chart-label",
    });
    text.append(shortened(plain(label), Math.floor(left / 6.4)));
    const whole = draw("title", {});
    whole.append(plain(label));
    text.append(whole);
    nodes.push(text);
    for (const item of bars) {
      nodes.push(barOf(name, label, item, { left, room, y }));
      y += BAR_HEIGHT + BAR_GAP;
    }
    y += GROUP_GAP;
  }
  const svg = draw(
    "svg",
    { width, height: Math.max(y, 24), viewBox: `0 0 ${width} ${Math.max(y, 24)}`, role: "group", "aria-label": title },
    ...nodes,
  );
  return chartCard(name, title, note, groups.length ? svg : make("p", "nothing", "nothing to show"));
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text);

function barOf(name, label, item, { left, room, y }) {
  const length = Math.max(item.share > 0 ? 2 : 0, room * Math.max(0, Math.min(1, item.share)));
  const group = draw("g", {
    class: `chart-bar ${item.run === null ? "plain-bar" : runColour(item.run)}`,
    role: "button",
    tabindex: 0,
    "aria-label": `${plain(label)}${item.run === null ? "" : `, ${plain(index.runs[item.run].name)}`}: ${item.label}. Filter by it.`,
  });
  group.append(
    draw("rect", { class: "hit", x: left, y: y - BAR_GAP / 2, width: room + 90, height: BAR_HEIGHT + BAR_GAP }),
    draw("rect", { class: "track", x: left, y, width: room, height: BAR_HEIGHT, rx: 2 }),
    draw("rect", { class: "value", x: left, y, width: length, height: BAR_HEIGHT, rx: 2 }),
  );
  const text = draw("text", { x: left + room + 6, y: y + BAR_HEIGHT / 2, class: "chart-number" });
  text.append(item.label);
  group.append(text);
  Object.assign(group.dataset, {
    chart: name,
    name: label,
    run: item.run ?? "",
    value: String(item.value),
    count: String(item.count),
  });
  onPress(group, item.click);
  return group;
}

function onPress(element, action) {
  element.addEventListener("click", action);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    action();
  });
}

function chartCard(name, title, note, ...content) {
  const card = make("section", `chart chart-${name}`, make("h3", "", title), make("p", "note", note), ...content);
  card.dataset.chart = name;
  return card;
}

/** Sum and number of known values, by run. */
class Means {
  constructor() {
    this.groups = new Map();
  }

  add(group, run, value) {
    if (!this.groups.has(group)) this.groups.set(group, new Map());
    const runs = this.groups.get(group);
    if (!runs.has(run)) runs.set(run, { sum: 0, count: 0 });
    if (typeof value !== "number") return;
    runs.get(run).sum += value;
    runs.get(run).count += 1;
  }

  /** [group, [[run, mean or null, count]]], both in order. */
  rows() {
    const means = (runs) =>
      [...runs]
        .sort(([one], [other]) => one - other)
        .map(([run, { sum, count }]) => [run, count ? sum / count : null, count]);
    return [...this.groups].sort(([one], [other]) => one - other).map(([group, runs]) => [group, means(runs)]);
  }
}

const meanBar = (run, mean, times, click) => ({
  run,
  value: mean,
  count: times,
  share: mean ?? 0,
  label: `${score(mean)} (n ${whole.format(times)})`,
  click,
});

function returnById(items, width) {
  const means = new Means();
  for (const n of items) means.add(columns.env[n], columns.run[n], returnOf(n));
  const groups = means.rows().map(([env, runs]) => ({
    label: index.envs[env],
    bars: runs.map(([run, mean, times]) =>
      meanBar(run, mean, times, () => drill({ id: String(env), run: String(run) })),
    ),
  }));
  return barChart("return-by-id", "Mean return by id", "Over episodes whose return is known.", groups, width);
}

function rewardParts(items, width) {
  const means = new Means();
  index.rewards.forEach((name, at) => {
    const column = scores.get(name) ?? [];
    for (const n of items) if (column[n] !== undefined && column[n] !== "n") means.add(at, columns.run[n], column[n]);
  });
  const groups = means.rows().map(([at, runs]) => ({
    label: index.rewards[at],
    bars: runs.map(([run, mean, times]) =>
      meanBar(run, mean, times, () => drill({ reward: String(at), is: "", from: "0", to: "1", run: String(run) })),
    ),
  }));
  return barChart(
    "reward-parts",
    "Reward parts",
    "Mean score where the reward is asked for and its value is known.",
    groups,
    width,
  );
}

function errorsByKind(items, width) {
  const counts = new Map();
  for (const n of items) {
    for (const [kind, times] of errorsOf(n)) {
      if (!counts.has(kind)) counts.set(kind, new Map());
      const runs = counts.get(kind);
      runs.set(columns.run[n], (runs.get(columns.run[n]) ?? 0) + times);
    }
  }
  const most = Math.max(1, ...[...counts.values()].flatMap((runs) => [...runs.values()]));
  const kinds = [...counts].sort(([one], [other]) => index.errors.indexOf(one) - index.errors.indexOf(other));
  const groups = kinds.map(([kind, runs]) => ({
    label: kind,
    bars: [...runs]
      .sort(([one], [other]) => one - other)
      .map(([run, times]) => ({
        run,
        value: times,
        count: times,
        share: times / most,
        label: whole.format(times),
        click: () => drill({ error: String(index.errors.indexOf(kind)), run: String(run) }),
      })),
  }));
  return barChart("errors", "Errors by kind", "Unreadable actions and calls that failed, each counted.", groups, width);
}

/** Classes of returns: exactly 0, tenths, exactly 1; ten of equal width where a rubric pays otherwise. */
function returnClasses(values) {
  const least = values.reduce((one, other) => Math.min(one, other), 0);
  const greatest = values.reduce((one, other) => Math.max(one, other), 1);
  const edge = (at) => (at === 10 ? greatest : least + ((greatest - least) * at) / 10);
  const tenths = Array.from({ length: 10 }, (_, at) => ({
    low: edge(at),
    high: edge(at + 1),
    edges: at === 9 ? "" : "high",
  }));
  if (least < 0 || greatest > 1) return tenths;
  tenths[0].edges = "low high";
  tenths[9].edges = "high";
  return [{ low: 0, high: 0, edges: "" }, ...tenths, { low: 1, high: 1, edges: "" }];
}

function inClass({ low, high, edges }, value) {
  return (
    (edges.includes("low") ? value > low : value >= low) && (edges.includes("high") ? value < high : value <= high)
  );
}

function className({ low, high, edges }) {
  const brief = (value) => String(Number(value.toFixed(3)));
  if (low === high) return `exactly ${brief(low)}`;
  return `${edges.includes("low") ? "above " : ""}${brief(low)} to ${edges.includes("high") ? "below " : ""}${brief(high)}`;
}

function returnDistribution(items, width) {
  const known = items.filter((n) => returnOf(n) !== null);
  const classes = returnClasses(known.map(returnOf));
  const runs = [...new Set(items.map((n) => columns.run[n]))].sort((one, other) => one - other);
  const rows = [
    ...classes.map((one) => [
      className(one),
      (n) => returnOf(n) !== null && inClass(one, returnOf(n)),
      {
        returned: "",
        low: String(one.low),
        high: String(one.high),
        edges: one.edges,
      },
    ]),
    ["unknown", (n) => returnOf(n) === null, { returned: "unknown", low: "", high: "", edges: "" }],
  ];
  const counts = rows.map(([, test]) =>
    runs.map((run) => items.filter((n) => columns.run[n] === run && test(n)).length),
  );
  const most = Math.max(1, ...counts.flat());
  const groups = rows
    .map(([label, , filter], at) => ({
      label,
      bars: runs
        .map((run, number) => ({
          run,
          value: counts[at][number],
          count: counts[at][number],
          share: counts[at][number] / most,
          label: whole.format(counts[at][number]),
          click: () => drill({ ...filter, run: String(run) }),
        }))
        .filter((item) => item.count),
    }))
    .filter(({ bars }) => bars.length);
  return barChart("distribution", "Distribution of returns", "Episodes by their return.", groups, width);
}

/** Mean return at each number of steps; an area of a dot is a number of episodes. */
function returnBySteps(items, width) {
  const means = new Means();
  for (const n of items) if (returnOf(n) !== null) means.add(columns.run[n], columns.steps[n], returnOf(n));
  const rows = means.rows();
  const points = rows.flatMap(([run, steps]) => steps.map(([step, mean, times]) => ({ run, step, mean, times })));
  const note = "Mean return at each number of steps; a larger dot stands for more episodes.";
  if (!points.length) return chartCard("steps", "Return against steps", note, make("p", "nothing", "nothing to show"));
  const svg = scatter(rows, points, width);
  return chartCard(
    "steps",
    "Return against steps",
    note,
    svg,
    folded("as numbers", () => stepsTable(points)),
  );
}

function scatter(rows, points, width) {
  const [left, top, height] = [40, 14, 230];
  const [room, rise] = [width - left - 20, height - top - 30];
  const [most, crowd] = [Math.max(1, ...points.map(({ step }) => step)), Math.max(...points.map(({ times }) => times))];
  const [least, greatest] = [
    Math.min(0, ...points.map(({ mean }) => mean)),
    Math.max(1, ...points.map(({ mean }) => mean)),
  ];
  const x = (step) => left + (room * step) / most;
  const y = (mean) => top + rise * (1 - (mean - least) / (greatest - least));
  const nodes = [];
  for (const tick of [least, (least + greatest) / 2, greatest]) {
    nodes.push(draw("line", { class: "grid-line", x1: left, x2: left + room, y1: y(tick), y2: y(tick) }));
    nodes.push(draw("text", { class: "chart-label", x: left - 6, y: y(tick) }, String(Number(tick.toFixed(2)))));
  }
  const stride = Math.max(1, Math.ceil(most / 8));
  for (let step = 0; step <= most; step += stride)
    nodes.push(draw("text", { class: "chart-tick", x: x(step), y: height - 12 }, String(step)));
  for (const [run, steps] of rows) {
    const path = steps.map(([step, mean], at) => `${at ? "L" : "M"}${x(step)} ${y(mean)}`).join("");
    nodes.push(draw("path", { class: `chart-line ${runColour(run)}`, d: path }));
  }
  nodes.push(
    ...points.map((point) => dotOf(point, x(point.step), y(point.mean), 3 + 7 * Math.sqrt(point.times / crowd))),
  );
  nodes.push(draw("text", { class: "chart-tick", x: left + room / 2, y: height }, "steps"));
  return draw(
    "svg",
    {
      width,
      height: height + 6,
      viewBox: `0 0 ${width} ${height + 6}`,
      role: "group",
      "aria-label": "Return against steps",
    },
    ...nodes,
  );
}

function dotOf({ run, step, mean, times }, x, y, radius) {
  const words = `${count(step, "step")}: ${score(mean)}, ${count(times, "episode")}`;
  const dot = draw("circle", {
    class: `chart-dot ${runColour(run)}`,
    cx: x,
    cy: y,
    r: radius,
    role: "button",
    tabindex: 0,
    "aria-label": `${plain(index.runs[run].name)}, ${words}`,
  });
  dot.append(draw("title", {}, `${plain(index.runs[run].name)} · ${words}`));
  Object.assign(dot.dataset, {
    chart: "steps",
    name: String(step),
    run: String(run),
    value: String(mean),
    count: String(times),
  });
  onPress(dot, () => drill({ least: String(step), most: String(step), run: String(run) }));
  return dot;
}

function stepsTable(points) {
  const { element, body } = compareTable(["run", "steps", "mean return", "episodes"]);
  for (const { run, step, mean, times } of points) {
    body.append(
      make(
        "tr",
        "",
        make("td", "", runName(run)),
        ...[String(step), score(mean), whole.format(times)].map((text) => make("td", "number", text)),
      ),
    );
  }
  return element;
}

/** What a press on a bar does: the list of its episodes. */
function drill(filters) {
  change({ ...filters, view: "episodes", open: "" }, { push: true });
  filterPanel.read();
}

function legend(items) {
  const runs = [...new Set(items.map((n) => columns.run[n]))].sort((one, other) => one - other);
  const entry = (run) => {
    const own = items.filter((n) => columns.run[n] === run);
    const known = own.map(returnOf).filter((value) => value !== null);
    const mean = known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
    return make(
      "li",
      "",
      runName(run),
      make("span", "quiet-words", ` ${count(own.length, "episode")}, mean return ${score(mean)}`),
    );
  };
  return make("ul", "legend", ...runs.map(entry));
}

class ChartsView {
  constructor() {
    this.element = make("div", "view charts");
    this.width = 0;
    new ResizeObserver(() => {
      if (state.view === "charts" && this.element.clientWidth !== this.width) this.draw();
    }).observe(this.element);
  }

  draw() {
    const items = shownEpisodes();
    this.width = this.element.clientWidth;
    if (this.drawnFor === items && this.drawnAt === this.width) return;
    [this.drawnFor, this.drawnAt] = [items, this.width];
    const twoColumns = this.width >= 900;
    const width = Math.max(240, Math.floor(twoColumns ? (this.width - 16 * 3) / 2 : this.width - 32) - 34);
    const charts = [returnById, rewardParts, errorsByKind, returnDistribution, returnBySteps].map((chart) =>
      chart(items, width),
    );
    const columnsOf = twoColumns
      ? [
          [0, 1, 4],
          [3, 2],
        ]
      : [[0, 1, 2, 3, 4]];
    this.element.replaceChildren(
      legend(items),
      make(
        "div",
        "chart-columns",
        ...columnsOf.map((numbers) => make("div", "chart-column", ...numbers.map((at) => charts[at]))),
      ),
    );
  }
}

// ----------------------------------------------------------------------------------------------------------- page

const topBar = document.getElementById("top");
const main = document.getElementById("main");
const searchBox = make("input", "search");
const tabs = new Map();
let filterPanel = null;
let episodesView = null;
let compareView = null;
let chartsView = null;

class EpisodesView {
  constructor() {
    this.list = new VirtualList({
      name: "episodes",
      label: "Episodes",
      cells: CELLS,
      onOpen: (number, options) => change({ open: String(number) }, options),
      onSort: (name) => change({ sort: nextSort(state.sort, name) }),
    });
    this.detail = make("div", "detail");
    this.detail.setAttribute("role", "region");
    this.detail.setAttribute("aria-label", "Episode");
    this.detail.tabIndex = -1;
    this.element = make("div", "view episodes", make("div", "panes", this.list.element, this.detail));
    this.opened = "";
  }

  draw() {
    this.list.setItems(sortedEpisodes(), state.sort);
    this.element.classList.toggle("with-detail", state.open !== "");
    return this.drawDetail();
  }

  async drawDetail() {
    if (this.opened === state.open) return;
    const opened = (this.opened = state.open);
    if (opened === "") {
      this.detail.replaceChildren();
      this.detail.removeAttribute("data-episode");
      return;
    }
    const number = Number(opened);
    const [episode, task] = await Promise.all([readEpisode(number), readTask(number)]);
    if (this.opened !== opened) return;
    this.detail.replaceChildren(episodeView(number, episode, task));
    this.detail.scrollTop = 0;
    this.detail.dataset.episode = opened;
    this.list.select(number);
    highlight(this.detail);
  }
}

const isOpen = () => (state.view === "episodes" ? state.open !== "" : state.view === "compare" && state.pair !== "");
const currentList = () =>
  state.view === "episodes" ? episodesView.list : state.view === "compare" ? compareView.list : null;

function render() {
  search.start(state.q);
  const views = new Map([
    ["episodes", episodesView],
    ["compare", compareView],
    ["charts", chartsView],
  ]);
  for (const [name, view] of views) {
    view.element.hidden = name !== state.view;
    const tab = tabs.get(name);
    if (name === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  filterPanel.draw();
  Promise.resolve(views.get(state.view).draw()).catch(fail);
}

function makeTabs() {
  for (const [view, label] of VIEWS) {
    const tab = button(label, "tab", () => change({ view }, { push: true }));
    tab.dataset.view = view;
    tabs.set(view, tab);
  }
  tabs.get("compare").disabled = index.runs.length < 2;
  if (index.runs.length < 2) tabs.get("compare").title = "Give callgym view two files to compare their runs";
  document.getElementById("tabs").append(...tabs.values());
}

function makeSearch() {
  searchBox.type = "search";
  searchBox.placeholder = "Search all texts ( / )";
  searchBox.setAttribute("aria-label", "Search ids, tasks and all texts");
  searchBox.spellcheck = false;
  let waiting = 0;
  searchBox.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ q: searchBox.value }), 150);
  });
  document.getElementById("find").append(searchBox);
}

/** What of the files could not be read, and which tasks' gold is not here. */
function drawBanner() {
  const lines = [];
  for (const run of index.runs) {
    if (run.fault)
      lines.push(
        make(
          "p",
          "",
          "⚠ ",
          inline(run.name),
          ` was read up to a fault, ${count(run.episodes, "episode")}: `,
          inline(run.fault),
        ),
      );
    if (run.failed)
      lines.push(
        make(
          "p",
          "",
          "⚠ ",
          inline(run.name),
          `: ${count(run.failed, "episode")} could not be played; filter by the ending "failed"`,
        ),
      );
  }
  for (const [reason, times] of Object.entries(index.gold_missing ?? {})) {
    lines.push(make("p", "", `⚠ no gold for ${count(times, "episode")}: `, inline(reason)));
  }
  const banner = document.getElementById("banner");
  banner.hidden = lines.length === 0;
  banner.replaceChildren(...lines);
}

const KEYS = [
  ["j, k, ↓, ↑", "next, previous episode; an open one gives way"],
  ["Enter", "open the chosen episode"],
  ["Esc", "close the episode; stop a search"],
  ["/", "search"],
  ["1, 2, 3", "episodes, compare, charts"],
  ["PgUp, PgDn, Home, End", "through the list"],
  ["?", "this help"],
];

function makeHelp() {
  const dialog = document.getElementById("help");
  const { element, body } = compareTable(["sign", "an argument's verdict"]);
  for (const [verdict] of VERDICTS) {
    const cell = verdictCell(verdict);
    body.append(make("tr", "", make("td", "", cell.firstChild.textContent), cell));
  }
  const note = make(
    "p",
    "note",
    "⟨U+202E⟩ and the like stand for characters that cannot be seen or that turn the text around.",
  );
  dialog.append(
    make("h2", "", "Keys and signs"),
    factTable(KEYS.map(([key, words]) => [key, make("span", "", words)])),
    element,
    note,
    button("close", "", () => dialog.close()),
  );
  document.getElementById("help-button").addEventListener("click", () => dialog.showModal());
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape") return escape(typing);
  if (typing === searchBox && (event.key === "Enter" || event.key === "ArrowDown")) {
    event.preventDefault();
    currentList()?.element.focus();
    currentList()?.move(0, false);
    return;
  }
  if (typing) return;
  const list = currentList();
  const go = (by) => {
    list?.move(by, isOpen());
    // So that Enter opens what was chosen, and does not press the button that was pressed last.
    if (onControl && !event.target.closest(".detail")) list?.element.focus({ preventScroll: true });
  };
  const onControl = event.target.closest?.("button, summary, [role=button]");
  const actions = new Map([
    ["j", () => go(1)],
    ["k", () => go(-1)],
    ["/", () => searchBox.focus()],
    ["?", () => document.getElementById("help").showModal()],
    ...VIEWS.map(([view], at) => [String(at + 1), () => tabs.get(view).disabled || change({ view }, { push: true })]),
  ]);
  if (!onControl) actions.set("Enter", () => list?.open(list.selected));
  if (event.target === document.body) {
    actions.set("ArrowDown", () => go(1));
    actions.set("ArrowUp", () => go(-1));
  }
  if (!actions.has(event.key)) return;
  event.preventDefault();
  actions.get(event.key)();
}

function escape(typing) {
  if (search.running) search.cancel();
  else if (typing) typing.blur();
  else if (isOpen()) {
    change(state.view === "episodes" ? { open: "" } : { pair: "" }, { push: true });
    currentList().element.focus();
  }
}

function fail(error) {
  const words = error instanceof Error ? error.message : String(error);
  const alert = make("div", "failed-page", make("h2", "", "This page cannot be shown"), make("p", "", inline(words)));
  alert.setAttribute("role", "alert");
  main.replaceChildren(alert);
  document.documentElement.dataset.ready = "failed";
}

async function begin() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the page's data (it has no DecompressionStream). " +
        "Open the file with Chrome or Edge 113, Firefox 115, Safari 16.4, or anything newer.",
    );
  }
  await readPage();
  document.getElementById("title").append(inline(index.title));
  makeTabs();
  makeSearch();
  makeHelp();
  drawBanner();
  filterPanel = new FilterPanel();
  episodesView = new EpisodesView();
  compareView = new CompareView();
  chartsView = new ChartsView();
  main.replaceChildren(episodesView.element, compareView.element, chartsView.element);
  addEventListener("hashchange", followHash);
  addEventListener("popstate", followHash);
  document.addEventListener("keydown", onKey);
  followHash();
  topBar.dataset.ready = "true";
  document.documentElement.dataset.ready = "true";
}

begin().catch(fail);
