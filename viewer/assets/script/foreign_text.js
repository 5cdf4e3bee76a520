// What others wrote, made visible: what a reader could not see is written out.

const LONGEST_OPEN = 4000;
const LONGEST_ANSWER_OPEN = 1500;
const CHUNK = 10_000;
const MOST_MARKS = 400;

// What a reader cannot see, or what moves other letters about: controls, directions, joiners, blanks without width,
// tags, half surrogates. Tab and newline are shown as they are.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]|\\p{Cs}",
  "gu",
);
const BEFORE_JOINER = /^[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]/u;
const AFTER_JOINER = /^\p{Extended_Pictographic}/u;

const escapeOf = (character) => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

const lastCharacter = (text) => text.slice(text.codePointAt(text.length - 2) > 0xffff ? -2 : -1);

/** The places of hidden characters in a text; a joiner within an emoji is none. */
function* hiddenIn(text) {
  for (const match of text.matchAll(HIDDEN)) {
    const at = match.index;
    const joins =
      match[0] === "\u200d" &&
      BEFORE_JOINER.test(lastCharacter(text.slice(Math.max(0, at - 2), at))) &&
      AFTER_JOINER.test(text.slice(at + 1, at + 3));
    if (!joins) yield match;
  }
}

/** A text with its hidden characters written out. */
function plain(text) {
  let shown = "";
  let from = 0;
  for (const match of hiddenIn(text)) {
    shown += text.slice(from, match.index) + escapeOf(match[0]);
    from = match.index + match[0].length;
  }
  return shown + text.slice(from);
}

/** As `plain`, with each hidden character in an element of its own. */
function foreign(text) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  let marks = 0;
  for (const match of hiddenIn(text)) {
    if (++marks > MOST_MARKS) break;
    if (match.index > from) fragment.append(text.slice(from, match.index));
    fragment.append(make("span", "hidden-character", escapeOf(match[0])));
    from = match.index + match[0].length;
  }
  const rest = text.slice(from);
  if (rest) fragment.append(marks > MOST_MARKS ? plain(rest) : rest);
  return fragment;
}
