"""Makes the pictures of the documentation from the commands themselves: python docs/pictures.py."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from aks_dra.report.text import WIDTH, print_plan
from aks_dra.stack_plan import plan_file

ROOT = Path(__file__).resolve().parent.parent
# Rich's own frame loads a web font; a picture in a repository loads nothing.
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: {char_height}px;
line-height: {line_height}px; }} .{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def main() -> None:
    plan, _ = plan_file(ROOT / "stacks" / "Pulumi.prod.yaml")
    assert plan is not None
    console = Console(record=True, width=WIDTH, highlight=False, file=io.StringIO(), force_terminal=True)
    print_plan(console, plan)
    svg = console.export_svg(title="make plan STACK=prod", code_format=FRAME, unique_id="plan", theme=MONOKAI)
    (ROOT / "docs" / "plan.svg").write_text(svg)


if __name__ == "__main__":
    main()
