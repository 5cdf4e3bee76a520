"""``callgym fetch`` and ``web-index``: data of others, brought here."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from callgym.command_line import HELP, explained, json_option, print_json
from callgym.data import cache_folder
from callgym.terminal import counted, harmless, progress

__all__ = ["fetch", "web_index"]

_FETCHERS = {
    "apibank": ("callgym.envs.apibank.fetch", "download_apibank", "copy_apibank"),
    "bfcl": ("callgym.envs.bfcl.fetch", "download_bfcl", "copy_bfcl"),
    "when2call": ("callgym.envs.when2call.fetch", "download_when2call", "copy_when2call"),
}
"""Benchmark to module, its function that downloads, and the one that takes what the user has."""


@click.command(context_settings=HELP)
@click.argument("name", type=click.Choice(sorted(_FETCHERS)))
@click.option("--from", "path", type=click.Path(path_type=Path), help="What you have; no download.")
@json_option
@explained
def fetch(name: str, path: Path | None, as_json: bool) -> None:
    """Download a benchmark, or take the files that one has.

    They go into the cache (CALLGYM_DATA); --from names a folder or a package.

    HF_ENDPOINT, CALLGYM_GITHUB and CALLGYM_PYPI name mirrors of https://huggingface.co, https://codeload.github.com
    and https://pypi.org/simple.
    """
    module, download, copy = _FETCHERS[name]
    fetcher = importlib.import_module(module)
    fetched = getattr(fetcher, download)() if path is None else getattr(fetcher, copy)(path)
    for note in fetched.notes:
        click.echo(f"callgym: {harmless(note)}", err=True)
    folder = cache_folder() / name
    if as_json:
        print_json({"name": name, "files": len(fetched.files), "folder": str(folder), "notes": list(fetched.notes)})
    else:
        click.echo(f"{name}: {len(fetched.files)} files in {folder}")


@click.command("web-index", context_settings=HELP)
@click.argument("pages", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The index, a new file.")
@json_option
@explained
def web_index(pages: Path, out: Path, as_json: bool) -> None:
    """BFCL's web search: make an index of pages.

    PAGES is JSON Lines of {"url", "title", "text"}; the index is for --set index=FILE."""
    from callgym.data import read_json_lines
    from callgym.envs.bfcl.web.index import build_index

    with progress("web-index", None, "pages") as advance:
        count = build_index((row for _, row in counted(read_json_lines(pages), advance)), out)
    if as_json:
        print_json({"pages": count, "out": str(out)})
    else:
        click.echo(f"{count} pages in {out}")
