"""How long fits of very large tables would take on 1 to 256 workers, from measured task times.

Run ``python -m benchmarks.cluster_schedule``: tasks of both fits below are timed on one
core, on a sample of the data, and then scheduled: by a formula, and by a simulation that plays all
tasks through. What is not on one machine, the network, is assumed: 10 Gbit/s and a millisecond.
``--keep`` writes the results, the picture and the tables of ``docs/scale.md``.
"""

import argparse
import re
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from benchmarks import results_file, scale_plan
from benchmarks.dying_workers import local_cluster
from benchmarks.scale_plan import Pass
from benchmarks.schedule_simulation import Machine, Work, formula, simulated
from benchmarks.stage_watch import watched
from halfseen import Files, GammaPoisson, GaussianMixture, simulate
from halfseen.data.engines.dask_rows import FAN_IN, added, summed

WORKERS = [2**power for power in range(9)]
LATENCY, BANDWIDTH = 1e-3, 1.25e9
DOCS = Path(__file__).parents[1] / "docs"
N_SAMPLE_PARTITIONS = 2


class Problem(NamedTuple):
    """A table that nobody here has, and a sample of it."""

    title: str
    rows: int
    features: int
    components: int
    partition: int  # rows of a partition
    sample: int  # rows of a sample's partition


MIXTURE = Problem("10⁹ rows × 100 features, K = 10", 10**9, 100, 10, 10**6, 100_000)
TOPICS = Problem("10⁸ documents × 10⁵ words, K = 50", 10**8, 10**5, 50, 10**5, 16_384)
STEPS = 20
"""EM steps of the mixture: what a sample takes depends on the sample."""
LENGTH = 100.0
"""Words of a document."""


class Timed(NamedTuple):
    """What was measured of one kind of pass."""

    stage: str
    times: int  # passes of this kind
    tasks: list[float]  # seconds of each task of a sample's partition
    addition: float  # seconds


def mixture_sample(problem: Problem) -> tuple[Any, Any, list[Pass]]:
    """A Parquet file of measurements, written; how it is fitted; and the plan for it."""
    d, k = problem.features, problem.components
    rng = np.random.default_rng(0)
    n = N_SAMPLE_PARTITIONS * problem.sample
    X, _ = simulate.gaussian_mixture(n, np.full(k, 1 / k), rng.normal(0, 1, (k, d)), 1.0, rng)
    t = d // 4
    X = simulate.independent_gaps(X, [1.0] * (d - t) + [0.5] * t, rng).astype(np.float32)
    model = GaussianMixture(k, third_moment="implicit", outliers=None, max_iter=3)
    return X, model, scale_plan.mixture(d, k, t, n_steps=STEPS)


def topics_sample(problem: Problem) -> tuple[Any, Any]:
    """Documents without gaps, and how they are fitted."""
    d, k = problem.features, problem.components
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(d, 0.05), size=k)
    shapes = np.full(k, 0.1)
    n = N_SAMPLE_PARTITIONS * problem.sample
    X, _ = simulate.sparse_gamma_poisson(n, topics, shapes, shapes.sum() / LENGTH, rng)
    return X, GammaPoisson(k)


def parquet(X: Any, folder: Path, rows_a_group: int) -> Path:
    """A table in a file, partitions being row groups."""
    import pyarrow as pa
    import pyarrow.parquet

    columns = {f"x{i}": pa.array(column, from_pandas=True) for i, column in enumerate(X.T)}
    pa.parquet.write_table(pa.table(columns), folder / "t.parquet", row_group_size=rows_a_group)
    return folder / "t.parquet"


def blocks(X: Any, rows_a_block: int) -> Any:
    """A sparse matrix as a ``dask.array`` of its rows."""
    import dask.array as da
    from dask import delayed

    parts = [X[start : start + rows_a_block] for start in range(0, X.shape[0], rows_a_block)]
    return da.concatenate(
        [da.from_delayed(delayed(part, traverse=False), part.shape, meta=X[:0]) for part in parts]
    )


@contextmanager
def stopwatch() -> Iterator[dict[str, list[tuple[str, float]]]]:
    """Seconds of tasks, by stage, of fits that Dask runs in this thread."""
    import dask

    stage = ""
    times: dict[str, list[tuple[str, float]]] = defaultdict(list)

    def hear(name: str) -> None:
        nonlocal stage
        stage = name

    def timing(kind: str, function: Any) -> Any:
        def timed(*args: Any) -> Any:
            start = time.perf_counter()
            result = function(*args)
            times[stage].append((kind, time.perf_counter() - start))
            return result

        return timed

    with (
        dask.config.set(scheduler="synchronous"),
        mock.patch("halfseen.data.engines.dask_rows.summed", timing("task", summed)),
        mock.patch("halfseen.data.engines.dask_rows.added", timing("addition", added)),
        watched(hear),
    ):
        yield times


def measured(model: Any, X: Any) -> tuple[list[Timed], dict[str, float]]:
    """Task times of every pass, and what is left of each stage for the client."""
    model.fit(X)  # compiles
    with stopwatch() as times:
        model.fit(X)
    found, client = [], {}
    for stage, seconds in model.diagnostics_.seconds.items():
        tasks = [s for kind, s in times[stage] if kind == "task"]
        additions = [s for kind, s in times[stage] if kind == "addition"]
        client[stage] = max(seconds - sum(tasks) - sum(additions), 0.0)
        for number in range(len(tasks) // N_SAMPLE_PARTITIONS):
            own = slice(number * N_SAMPLE_PARTITIONS, (number + 1) * N_SAMPLE_PARTITIONS)
            found.append(Timed(stage, 1, tasks[own], additions[number]))
    return found, client


def seconds_a_task() -> float:
    """What Dask itself takes for a task that does nothing."""
    import dask

    with local_cluster(1):
        for n in (10, 1000):
            tasks = [dask.delayed(_nothing)(i, dask_key_name=f"nothing-{n}-{i}") for i in range(n)]
            start = time.perf_counter()
            dask.compute(dask.delayed(_nothing)(tasks))
    return (time.perf_counter() - start) / n


def _nothing(_: Any) -> None:
    """Do nothing."""


class Study(NamedTuple):
    """A problem with all its passes, planned and measured."""

    problem: Problem
    passes: list[Pass]
    timed: list[Timed]  # one each
    client: list[float]  # seconds of the client after each

    def work(self, number: int) -> Work:
        """One of the passes on the whole table."""
        problem, planned, timed = self.problem, self.passes[number], self.timed[number]
        n_partitions = problem.rows // problem.partition
        scale = problem.partition / problem.sample
        drawn = np.random.default_rng(number).choice(timed.tasks, n_partitions) * scale
        return Work(
            drawn.tolist(), timed.addition, planned.sums, planned.to_worker, self.client[number]
        )

    def hours(self, machine: Machine, n_workers: int, of: Any) -> float:
        """Of the whole fit."""
        works = [(self.work(i), p.times) for i, p in enumerate(self.passes)]
        return float(sum(times * of(work, machine, n_workers) for work, times in works)) / 3600


def study_of_mixture(problem: Problem) -> Study:
    """The mixture's passes with their task times."""
    X, model, passes = mixture_sample(problem)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps of EM do not converge
        path = parquet(X, Path(folder), problem.sample)
        timed, client = measured(model, Files(path, dask=True))
    return _matched(problem, passes, timed, client)


def study_of_topics(problem: Problem) -> Study:
    """The topics' passes with their task times."""
    X, model = topics_sample(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few documents for so many words
        timed, client = measured(model, blocks(X, problem.sample))
    n_products = sum(t.stage == "pairs of features" for t in timed) - 2
    passes = scale_plan.topics(
        problem.features, problem.components, 0, n_products=n_products, n_parts=1
    )
    return _matched(problem, passes, timed, client)


def _matched(
    problem: Problem, passes: list[Pass], timed: list[Timed], client: dict[str, float]
) -> Study:
    """Each kind of pass with the tasks of all passes of its kind."""
    left = list(timed)
    own = []
    for number, planned in enumerate(passes):
        later = sum(p.stage == planned.stage for p in passes[number + 1 :])
        here = [t for t in left if t.stage == planned.stage]
        taken = here[: len(here) - later] if planned.times > 1 else here[:1]
        left = [t for t in left if t not in taken]
        tasks = [seconds for t in taken for seconds in t.tasks]
        own.append(
            Timed(planned.stage, len(taken), tasks, float(np.mean([t.addition for t in taken])))
        )
    n_passes: dict[str, int] = defaultdict(int)
    for planned, t in zip(passes, own, strict=True):
        n_passes[planned.stage] += t.times
    share = [client[p.stage] / n_passes[p.stage] for p in passes]
    return Study(problem, passes, own, share)


def check_on_this_machine(
    problem: Problem, machine: Machine, client: list[float]
) -> dict[str, dict[str, float]]:
    """A sample fitted by one and by two real workers, beside the simulation of just that.

    Tasks take as long as they took in that fit, so that what is compared is the schedule.
    """
    from distributed import get_task_stream

    here = machine._replace(latency=0.0)
    X, model, passes = mixture_sample(problem._replace(sample=4 * problem.sample))
    figures = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = parquet(X, Path(folder), problem.sample)
        for n_workers in (1, 2):
            with local_cluster(n_workers):
                model.fit(Files(path, dask=True))
                with get_task_stream() as stream:
                    start = time.perf_counter()
                    model.fit(Files(path, dask=True))
                    seconds = time.perf_counter() - start
            heard = list(_tasks_of(stream.data))
            # Few rows are started from several starts: as many steps as there were.
            n_steps = len(heard) - sum(p.times for p in passes if p.times < STEPS)
            expanded = [
                (p, c)
                for p, c in zip(passes, client, strict=True)
                for _ in range(n_steps if p.times == STEPS else p.times)
            ]
            works = [
                Work(tasks, addition, p.sums, p.to_worker, c)
                for (tasks, addition), (p, c) in zip(heard, expanded, strict=True)
            ]
            planned = sum(simulated(work, here, n_workers) for work in works)
            figures[str(n_workers)] = {"measured s": seconds, "simulated s": planned}
    return figures


def _tasks_of(stream: list[dict[str, Any]]) -> list[tuple[list[float], float]]:
    """Of each pass in turn: seconds of its tasks, and of adding two sums."""
    tasks: dict[str, list[float]] = defaultdict(list)
    additions: dict[str, list[float]] = defaultdict(list)
    for record in stream:
        found = re.fullmatch(r"halfseen-(add-)?([0-9a-f]{32})-\d+.*", str(record["key"]))
        if found:
            spent = [
                s["stop"] - s["start"] for s in record["startstops"] if s["action"] == "compute"
            ]
            (additions if found[1] else tasks)[found[2]].append(sum(spent))
    return [(tasks[t], float(np.mean(additions[t])) / (FAN_IN - 1)) for t in tasks]


def figures_of(study: Study, machine: Machine) -> dict[str, Any]:
    """What is kept of a study."""
    problem = study.problem
    return {
        "rows": problem.rows,
        "rows a partition": problem.partition,
        "passes": [
            {
                **p._asdict(),
                "to_client": p.to_client,
                "rows a second on one core": problem.sample / float(np.mean(t.tasks)),
                "addition s": t.addition,
                "client s": c,
            }
            for p, t, c in zip(study.passes, study.timed, study.client, strict=True)
        ],
        "hours": {
            str(n): {
                "formula": study.hours(machine, n, formula),
                "simulated": study.hours(machine, n, simulated),
            }
            for n in WORKERS
        },
    }


def tables(figures: dict[str, Any]) -> dict[str, str]:
    """The tables of the page, by name."""
    made = {}
    for name in ("mixture", "topics"):
        own = figures[name]
        n = own["rows"] // own["rows a partition"]
        rows = [
            f"| {p['stage']} | {p['what']} | {p['times']} | {_size(p['to_worker'])} | "
            f"{_size(p['sums'])} | {_size(n * p['sums'])} | {_size(p['to_client'])} | "
            f"{p['rows a second on one core']:,.0f} |"
            for p in own["passes"]
        ]
        head = (
            "| stage | a pass | passes | to each worker | a partition's sums | all sums, a pass | "
            "to the client, in all | rows a second, one core |"
        )
        made[f"{name} passes"] = "\n".join([head, "|" + " --- |" * 8, *rows])
        rows = [
            f"| {m} | {_time(h['formula'])} | {_time(h['simulated'])} | "
            f"{own['hours']['1']['simulated'] / h['simulated'] / int(m):.0%} |"
            for m, h in own["hours"].items()
        ]
        head = "| workers | by the formula | simulated | of M times one worker's speed |"
        made[f"{name} hours"] = "\n".join([head, "|" + " --- |" * 4, *rows])
    rows = [
        f"| {m} | {row['measured s']:.1f} s | {row['simulated s']:.1f} s |"
        for m, row in figures["check"].items()
    ]
    made["check"] = "\n".join(["| workers | measured | simulated |", "|" + " --- |" * 3, *rows])
    made["scheduler"] = (
        f"Dask took {figures['seconds a task'] * 1e3:.2f} ms for a task that does nothing; the "
        f"network is assumed to carry {BANDWIDTH / 1e9:g} GB/s with {LATENCY * 1e3:g} ms of delay."
    )
    made["chatter"] = (
        "What the client receives was measured at its sockets, and is within a fifth of the tables "
        f"plus {scale_plan.ENVELOPE} bytes of Dask's own for each result (which the tables count) "
        f"and {scale_plan.CHATTER} a second."
    )
    return made


def _size(n_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def _time(hours: float) -> str:
    if hours >= 1:
        return f"{hours:.1f} h"
    return f"{hours * 60:.1f} min" if hours >= 1 / 60 else f"{hours * 3600:.0f} s"


def filled(page: str, made: dict[str, str]) -> str:
    """A page with its tables, which stand between comments that name them."""
    for name, text in made.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        found = re.search(pattern, page, re.DOTALL)
        if found is None:
            raise ValueError(f"the page has no place for '{name}'")
        page = f"{page[: found.start()]}{found[1]}{text}\n{found[2]}{page[found.end() :]}"
    return page


def draw(figures: dict[str, Any], path: Path) -> None:
    """Time against workers, simulated, beside M times one worker's speed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, name, problem in zip(axes, ("mixture", "topics"), (MIXTURE, TOPICS), strict=True):
        hours = figures[name]["hours"]
        m = np.array([int(n) for n in hours])
        found = np.array([h["simulated"] for h in hours.values()])
        ax.loglog(m, found[0] / m, color="0.7", lw=1, label="M times as fast as one")
        ax.loglog(m, [h["formula"] for h in hours.values()], "--", color="C1", label="formula")
        ax.loglog(m, found, "o-", color="C0", ms=4, label="simulated")
        ax.set_xticks(m, [str(n) for n in m], fontsize=8)
        ax.minorticks_off()
        ax.set_xlabel("workers of one core")
        ax.set_title(problem.title, fontsize=9)
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("hours")
    axes[0].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="smaller samples, for a trial")
    parser.add_argument("--keep", action="store_true", help="write results, picture and tables")
    options = parser.parse_args()
    mixture, topics = MIXTURE, TOPICS
    if options.small:
        mixture = mixture._replace(sample=3000, features=20, components=3)
        topics = topics._replace(sample=1500, features=1500, components=2)
    per_task = seconds_a_task()
    machine = Machine(per_task, LATENCY, BANDWIDTH)
    of_mixture = study_of_mixture(mixture)
    figures = {
        "seconds a task": per_task,
        "mixture": figures_of(of_mixture, machine),
        "topics": figures_of(study_of_topics(topics), machine),
        "check": check_on_this_machine(mixture, machine, of_mixture.client),
    }
    made = tables(figures)
    print("\n\n".join(made.values()))
    if options.keep:
        command = "python -m benchmarks.cluster_schedule"
        results_file.write("cluster_schedule", command, figures)
        page = DOCS / "scale.md"
        page.write_text(filled(page.read_text(encoding="utf-8"), made), encoding="utf-8")
        draw(figures, DOCS / "scale.png")


if __name__ == "__main__":
    main()
