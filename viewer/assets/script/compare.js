// Two runs side by side, task by task.

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
