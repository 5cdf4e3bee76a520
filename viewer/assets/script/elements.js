// Elements of the document. Texts of others reach it as text nodes, and in no other way.

/** An element; strings among the children are our own words. */
function make(tag, classes = "", ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text of others within a line; it cannot turn the direction of what stands beside it. */
function inline(text, classes = "") {
  const element = make("bdi", classes);
  if (text.length <= LONGEST_OPEN) element.append(foreign(text));
  else element.append(foreign(beginning(text, LONGEST_OPEN)), `… (${count(characters(text), "character")})`);
  return element;
}

function button(label, classes, onClick) {
  const element = make("button", classes, label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/** Something folded; its inside is made when it is opened for the first time. */
function folded(summary, content, open = false) {
  const details = make("details", "folded", make("summary", "", summary));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(content());
  };
  details.addEventListener("toggle", fill);
  details.open = open;
  fill();
  return details;
}

const whole = new Intl.NumberFormat("en-US");
const count = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;
const score = (value) => (value === null || value === undefined ? "unknown" : value.toFixed(3));
const signed = (value) => (value > 0 ? `+${value.toFixed(3)}` : value < 0 ? `−${(-value).toFixed(3)}` : "0.000");

function seconds(value) {
  if (value === null || value === undefined) return "unknown";
  if (value < 0.0995) return `${(value * 1000).toPrecision(2)} ms`;
  return value < 10 ? `${value.toPrecision(2)} s` : `${whole.format(Math.round(value))} s`;
}

/** Where the character of a number, counted as Python counts, begins in a JavaScript string. */
function offsetOf(text, position) {
  let at = 0;
  for (let number = 0; number < position && at < text.length; number++) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

function characters(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.codePointAt(at) > 0xffff) (pairs++, at++);
  return text.length - pairs;
}

/** The first part of a text that does not end within a pair of surrogates. */
function beginning(text, length) {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** A box for a text of any length: folded where it is long, in pieces where it is very long. */
function textBox(text, { marks = [], most = LONGEST_OPEN, classes = "" } = {}) {
  const outer = make("div", `text-box ${classes}`.trim());
  if (!text) {
    outer.append(make("span", "nothing", "(empty)"));
    return outer;
  }
  const box = make("div", "text");
  box.dir = "auto";
  outer.append(box);
  const places = marks.map((position) => offsetOf(text, position)).sort((one, other) => one - other);
  if (text.length <= most) {
    fillText(box, text, places);
    return outer;
  }
  const total = count(characters(text), "character");
  const more = button(`show ${total}`, "more", () => {
    const opening = more.getAttribute("aria-expanded") === "false";
    more.setAttribute("aria-expanded", String(opening));
    more.textContent = opening ? "show fewer" : `show ${total}`;
    fillText(box, opening ? text : beginning(text, most), places);
  });
  more.setAttribute("aria-expanded", "false");
  fillText(box, beginning(text, most), places);
  outer.append(more);
  return outer;
}

function fillText(box, text, places) {
  const pieces = text.length > 5 * CHUNK ? chunksOf(text) : [text];
  let from = 0;
  const children = pieces.map((piece) => {
    const within = places.filter((place) => place >= from && place < from + piece.length).map((place) => place - from);
    if (from + piece.length === text.length && places.some((place) => place >= text.length)) within.push(piece.length);
    from += piece.length;
    return markedText(piece, within, pieces.length > 1);
  });
  box.replaceChildren(...children);
}

function markedText(text, places, isChunk) {
  const holder = isChunk ? make("div", "chunk") : document.createDocumentFragment();
  let from = 0;
  for (const place of places) {
    holder.append(foreign(text.slice(from, place)), make("mark", "fault-place", "▸"));
    from = place;
  }
  holder.append(foreign(text.slice(from)));
  return holder;
}

/** Pieces that a browser lays out one by one; they end at a newline where there is one. */
function chunksOf(text) {
  const pieces = [];
  for (let from = 0; from < text.length;) {
    const piece = beginning(text.slice(from, from + CHUNK), CHUNK);
    const newline = piece.lastIndexOf("\n");
    const length = newline > CHUNK / 2 && from + CHUNK < text.length ? newline + 1 : piece.length;
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return pieces;
}
