// The page: its parts, its keys, and its beginning.

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
    const warn = (...words) => lines.push(make("p", "", "⚠ ", inline(run.name), ...words));
    if (run.fault) warn(` was read up to a fault, ${count(run.episodes, "episode")}: `, inline(run.fault));
    if (run.failed) warn(`: ${count(run.failed, "episode")} could not be played; filter by the ending "failed"`);
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
