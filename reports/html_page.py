"""A report as one HTML page: no script, no network, pictures inside; names are text whatever they hold."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator, Sequence

from callgym.reports.document import (
    Block,
    Cell,
    Document,
    Fact,
    Facts,
    Heading,
    Notes,
    Paragraph,
    Picture,
    Range,
    Table,
)
from callgym.terminal import one_line

__all__ = ["as_html"]

_STYLE = """
:root { color-scheme: light; --ink: #1b2430; --soft: #5b6675; --line: #e3e7ec; --paper: #ffffff; --ground: #f4f6f8;
  --good: #0a7d4f; --bad: #b3261e; --accent: #0072b2; --amber: #fff7e0; --amber-line: #e0b23c; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 20px; overflow-wrap: anywhere; letter-spacing: -0.01em; }
section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 20px 24px 22px;
  margin: 0 0 18px; }
h2 { font-size: 18px; margin: 0 0 10px; }
p { margin: 10px 0 12px; color: var(--soft); max-width: 86ch; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 14px; margin: 0 0 18px; }
.fact { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; }
.fact .label { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.fact .value { font-size: 30px; font-weight: 650; font-variant-numeric: tabular-nums; line-height: 1.3; }
.fact .detail { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
ul.notes { margin: 0; padding: 12px 16px 12px 34px; background: var(--amber); border-left: 4px solid var(--amber-line);
  border-radius: 6px; overflow-wrap: anywhere; }
ul.notes li { margin: 3px 0; }
.fact .change { font-size: 13px; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 8px 0 12px; font-size: 14px; }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: middle; }
th { color: var(--soft); font-weight: 600; font-size: 12.5px; white-space: nowrap; border-bottom-width: 2px; }
td { overflow-wrap: break-word; }
th.r, td.r { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
td.n { white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover td { background: #f8fafc; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.dim { color: #9aa4b1; }
.strong { font-weight: 600; }
svg.range { width: 120px; height: 16px; vertical-align: -3px; margin-right: 10px; }
svg.range .axis { stroke: #cfd6de; stroke-width: 1; }
svg.range .bar { stroke: var(--accent); stroke-width: 5; stroke-linecap: round; opacity: 0.35; }
svg.range .dot { fill: var(--accent); }
figure { margin: 16px 0 4px; }
figure img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { color: var(--soft); font-size: 13px; text-align: center; margin-top: 4px; }
@media print { body { background: #fff; } section, .fact { break-inside: avoid; } }
"""
_WIDTH, _MIDDLE = 120, 8
_INSET = 6


def as_html(document: Document) -> str:
    """The report as a page; it loads nothing, and its policy lets it run nothing."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    title = _text(document.title)
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            *_sections(document.blocks),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _sections(blocks: Sequence[Block]) -> Iterator[str]:
    """Each heading opens a section; what stands before the first one stands alone."""
    within = False
    for block in blocks:
        if isinstance(block, Heading):
            yield f"{'</section>' if within else ''}\n<section>\n<h2>{_text(block.text)}</h2>\n"
            within = True
        else:
            yield _block(block)
    if within:
        yield "</section>\n"


def _block(block: Block) -> str:
    match block:
        case Paragraph(text):
            return f"<p>{_text(text)}</p>\n"
        case Notes(texts):
            return f'<ul class="notes">{"".join(f"<li>{_text(text)}</li>" for text in texts)}</ul>\n'
        case Facts(facts):
            return f'<div class="facts">{"".join(_fact(fact) for fact in facts)}</div>\n'
        case Table():
            return _table(block)
        case Picture(_, caption, png):
            data = base64.b64encode(png).decode()
            shown = _text(caption)
            return (
                f'<figure><img src="data:image/png;base64,{data}" alt="{shown}">'
                f"<figcaption>{shown}</figcaption></figure>\n"
            )
        case Heading(text):
            return f"<h2>{_text(text)}</h2>\n"


def _fact(fact: Fact) -> str:
    return (
        f'<div class="fact"><div class="label">{_text(fact.label)}</div>'
        f'<div class="value">{_text(fact.value)}</div>'
        f'<div class="detail">{_text(fact.detail)}</div>'
        f'<div class="change {_text(fact.kind)}">{_text(fact.change)}</div></div>'
    )


def _table(table: Table) -> str:
    classes = ["r" if side == "r" else "" for side in table.align]
    head = "".join(_tagged("th", _text(name), place) for name, place in zip(table.headers, classes, strict=True))
    rows = [
        "".join(
            _tagged(
                "td", _range(cell.range) + _text(cell.text), " ".join(filter(None, (place, _numeric(cell), cell.kind)))
            )
            for cell, place in zip(row, classes, strict=True)
        )
        for row in table.rows
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n'


def _numeric(cell: Cell) -> str:
    """Intervals stay on one line."""
    return "n" if cell.text.startswith("[") and len(cell.text) < 24 else ""


def _tagged(tag: str, inner: str, names: str) -> str:
    return f'<{tag} class="{_text(names)}">{inner}</{tag}>' if names else f"<{tag}>{inner}</{tag}>"


def _range(drawn: Range | None) -> str:
    """An interval and its mean, with 0 marked where the scale holds it."""
    if drawn is None:
        return ""
    width = drawn.end - drawn.start

    def place(value: float) -> str:
        return f"{_INSET + (_WIDTH - 2 * _INSET) * (min(max(value, drawn.start), drawn.end) - drawn.start) / width:.1f}"

    zero = place(0.0)
    return (
        f'<svg class="range" viewBox="0 0 {_WIDTH} {2 * _MIDDLE}" aria-hidden="true">'
        f'<line class="axis" x1="{_INSET}" y1="{_MIDDLE}" x2="{_WIDTH - _INSET}" y2="{_MIDDLE}"/>'
        f'<line class="axis" x1="{zero}" y1="2" x2="{zero}" y2="{2 * _MIDDLE - 2}"/>'
        f'<line class="bar" x1="{place(drawn.low)}" y1="{_MIDDLE}" x2="{place(drawn.high)}" y2="{_MIDDLE}"/>'
        f'<circle class="dot" cx="{place(drawn.mean)}" cy="{_MIDDLE}" r="3.5"/></svg>'
    )


def _text(text: str) -> str:
    return html.escape(one_line(text), quote=True)
