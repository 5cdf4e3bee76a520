// The list of episodes, of which only the rows in sight are in the document.

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
