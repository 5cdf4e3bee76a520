// JSON values as text, and integers that JavaScript cannot hold.

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
