// What is shown: the view, the filters, the open episode, kept in the address so that a link and Back work.

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
