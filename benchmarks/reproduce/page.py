"""The page that tells what was found, written from results and nothing else."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from benchmarks.reproduce.claims import OUR_CLAIMS, PAPERS_CLAIMS, Claim
from benchmarks.reproduce.evidence import COST_MARGIN, MARGIN, Measured
from benchmarks.reproduce.figures import FIGURES
from benchmarks.reproduce.figures.scale import SAEM_ROWS
from benchmarks.reproduce.methods import SWEEPS
from benchmarks.reproduce.sources import TOPICS
from benchmarks.reproduce.store import FOLDER, Results, ResultsError, command, path_of, read
from benchmarks.reproduce.verdicts import LEVEL, RULES
from halfseen.persistence.atomic import write_whole

MARK = "<!-- Written by `halfseen reproduce` from its results. Do not edit: run it again. -->"
NAME = "reproduction.md"

INTRODUCTION = """\
# The paper, measured again

O. Gottesman, W. Pan, F. Doshi-Velez (2018), *Weighted Tensor Decomposition for Learning Latent
Variables with Partial Data*: its figures, measured with its settings (`benchmarks.reproduce.paper`)
on the same tables as ours, and a verdict on each of its claims. `halfseen reproduce` makes all of
it, `halfseen reproduce gaussian` one figure of it, and `--quick` a small version in minutes.
"""

SLIPS = """\
## Where the paper slips

- It prints the error ε_c as a sum of cosines. The text speaks of angles, and so do we: the sum over
  components of the angle between learned and true, on the complete features, after matching.
- Its weights √p rest on a slip of algebra: with errors of equal variance the bound that it
  minimises gives w proportional to p there too.
- It averages the D − K smallest eigenvalues for the noise of a Gaussian mixture. D − K + 1 of them
  are noise; ours uses them all, the paper's methods here use its D − K.
- Its third moment of rescaled Gaussians is misprinted; the right one is used.
"""


def page(measured: Measured) -> str:
    """The page on the results at hand."""
    return "\n".join(
        [
            MARK,
            INTRODUCTION,
            *_made_by(measured),
            "## The paper's claims",
            "",
            *_table(PAPERS_CLAIMS, measured),
            "",
            "## halfseen beside it",
            "",
            "The same tables, the same rule. *Our moments* are the estimators' defaults with "
            "`refine=None`; *refined* adds EM for mixtures, and for topics stochastic EM with "
            f"{SWEEPS} sweeps, on at most {SAEM_ROWS:,} rows to keep within an hour.",
            "",
            *_table(OUR_CLAIMS, measured),
            "",
            *_rules(),
            *_figures(measured),
            SLIPS,
        ]
    )


def gather(out: Path, without: Collection[str] = ()) -> dict[str, Results]:
    """The results of all figures that were measured, but for some."""
    return {
        name: read(figure, out)
        for name, figure in FIGURES.items()
        if name not in without and path_of(name, out).exists()
    }


def write(out: Path) -> Path:
    """Write the page on all results in a folder; raises rather than replace another file."""
    path = out / NAME
    check_is_ours(path)
    write_whole(path, page(gather(out)).encode("utf-8"), overwrite=True)
    return path


def check_is_ours(path: Path) -> None:
    """A page may replace a page, and nothing else."""
    if path.exists() and not path.read_text(encoding="utf-8").startswith(MARK):
        raise ResultsError(
            f"{path} was not written by this command. Move it away, or use --out for another "
            "folder."
        )


def verdicts(measured: Measured) -> list[tuple[str, str]]:
    """Each of the paper's claims and the verdict on it."""
    return [(claim.text, claim.judged(measured).verdict) for claim in PAPERS_CLAIMS]


def _made_by(measured: Measured) -> Iterator[str]:
    if any(results.quick for results in measured.values()):
        yield (
            "**Some of this is a quick run**, with fewer runs and rows than the paper: a look at "
            "what would come out, not a test of it.\n"
        )
    made_with = {
        ", ".join(f"{package} {number}" for package, number in results.versions.items()): None
        for results in measured.values()
    }
    for versions in made_with:
        yield f"Made with {versions}.\n"


def _table(claims: Sequence[Claim], measured: Measured) -> Iterator[str]:
    yield "| claim | in the paper | figure | measured (± standard error) | rule | verdict |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for claim in claims:
        found = claim.judged(measured)
        yield (
            f"| {claim.text} | {claim.place} | [{claim.figure}](#{claim.figure}) | "
            f"{claim.quantity}: {found.numbers} | {claim.rule} | **{found.verdict}** |"
        )


def _rules() -> Iterator[str]:
    yield "## How verdicts are reached"
    yield ""
    yield (
        "By rules in the code, from paired runs: all methods see the same tables. Errors are "
        "compared by the logarithms of their ratios, as they are skewed, so that ratios are of "
        "geometric means; likelihoods by their differences, with the variance corrected for "
        "splits that share rows (Nadeau and Bengio 2003). A setting is one pattern of gaps at one "
        "number of rows. Significant means a one-sided paired t-test (two-sided for *alike*) at "
        f"{LEVEL:.0%}, corrected for the number of settings by Holm's method. The mean over "
        "settings is tested run by run, because tables of one seed resemble each other. The margin "
        f"is {MARGIN:.0%} of error or {MARGIN} nats of likelihood, and {COST_MARGIN:.0%} of time. "
        "The better of two baselines is the one that is better on average in that setting."
    )
    yield ""
    for name, (_, words) in RULES.items():
        yield f"- *{name}*: {words}."
    yield ""


def _figures(measured: Measured) -> Iterator[str]:
    yield "## The figures"
    yield ""
    yield (
        "Points are geometric means over runs, bars their standard errors (the paper has means, "
        "and in Fig. 2 standard deviations). The paper prints no numbers of samples. Blue, green, "
        "red and orange are the paper's methods with the paper's settings; pink and black are "
        "ours. A "
        "feature that is never observed together with another is left out of that table, for all "
        "methods: the paper does not say what to do about it."
    )
    yield ""
    for name, results in measured.items():
        figure = results.figure
        yield f"### {name}"
        yield ""
        yield f"{figure.paper}. {figure.title}. {figure.choices}".strip()
        yield ""
        yield f"![{figure.title}]({FOLDER}/{name}.png)"
        yield ""
        if results.points:
            made = command(name, results.runs, results.quick)
            yield (
                f"{results.runs} runs, seeds 0 to {results.runs - 1}: `{made}`, "
                f"[numbers]({FOLDER}/{name}.json)."
            )
            yield ""
        if figure.layout == "topics":
            yield from _topics()


def _topics() -> Iterator[str]:
    yield "| topic | " + " | ".join(f"d = {d}" for d in range(1, 11)) + " |"
    yield "| --- |" + " --- |" * 10
    for number, topic in enumerate(TOPICS, start=1):
        yield f"| {number} | " + " | ".join(f"{share:.2f}" for share in topic) + " |"
    yield ""
