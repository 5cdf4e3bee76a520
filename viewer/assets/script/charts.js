// Charts, which follow the filters.

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
