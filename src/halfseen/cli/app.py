"""Commands."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from halfseen.cli.demo import demo_text
from halfseen.cli.reproduce import reproduce

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Learn latent-variable models from tables with gaps.",
)


@app.callback()
def _commands() -> None:
    """Learn latent-variable models from tables with gaps."""


app.command()(reproduce)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the report is written.")] = Path(
        "demo-report.md"
    ),
    force: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
) -> None:
    """Fit the bundled sample, print what was learned, and write it down."""
    if out.exists() and not force:
        typer.echo(f"{out} is there already. Use --force to replace it, or --out.", err=True)
        raise typer.Exit(2)
    text = demo_text()
    Console().print(Markdown(text))
    out.write_text(text, encoding="utf-8")
    typer.echo(f"\nReport: {out.resolve()}")
