// What a task asked for, and what was made of it.

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
