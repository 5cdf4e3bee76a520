// Why a score is what it is, argument by argument, gold beside prediction.

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
