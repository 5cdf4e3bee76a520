// The panel of filters.

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
