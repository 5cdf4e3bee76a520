// One episode as a conversation.

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
