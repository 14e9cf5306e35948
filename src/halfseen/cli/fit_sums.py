"""``halfseen fit`` of sums: a model from what places summed, or what they are to sum next."""

from pathlib import Path
from shlex import quote
from typing import Any

from halfseen import Stream
from halfseen.cli.learned import tell
from halfseen.cli.options import check_writable
from halfseen.cli.voice import Voice
from halfseen.data.engines.precomputed import MoreSumsNeeded
from halfseen.models.summed import made
from halfseen.persistence.container import word_of

N_START = 256


def are_sums(data: list[str]) -> bool:
    """Whether files hold sums, by their first bytes."""
    return any(_is_sums(Path(name)) for name in data)


def _is_sums(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix == ".sums" or word_of(file.read(N_START)) == "sums"


def check_planned(options: dict[str, Any]) -> None:
    """Refuse options that say what a plan has said."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} does not go with sums: their plan says it. Leave it out.")


def fit_sums(data: list[str], out: Path, force: bool, as_json: bool) -> None:
    """Learn from the sums of all places; write the model, or the sums that it asks more after."""
    paths = [Path(name) for name in data]
    check_writable(out, force, *paths)
    voice = Voice(as_json)
    with voice.listening():
        found = added_up([Stream.load(path) for path in paths])
        if found.plan is None:
            raise ValueError(
                "These sums are of a stream without a plan. Use partial_fit() in Python for them."
            )
        estimator = made(found.plan)
        learned = _learned(estimator, found)
    if learned is None:
        found.save(out, overwrite=force)
        _tell_more(voice, found, out)
        return
    learned.save(out, overwrite=force)
    tell(voice, learned, round(found.n_rows), out, None, [])
    if learned.lower_bound_ is not None:
        voice.say(
            f"Before this step the log-likelihood was {learned.lower_bound_:.6f} a row; this was "
            f"round {learned.n_iter_} at a model."
        )
    if estimator.about.labels:
        here = quote(str(out))
        voice.say(f"Another step:  halfseen sums DATA --plan plan.json --at {here} --out a.sums")


def added_up(streams: list[Stream]) -> Stream:
    """The sums of all places."""
    first, *others = streams
    for other in others:
        first = first + other
    return first


def _learned(estimator: Any, found: Stream) -> Any:
    """The model, or nothing if it asks for more."""
    try:
        return estimator.fit(found)
    except MoreSumsNeeded:
        return None


def _tell_more(voice: Voice, found: Stream, out: Path) -> None:
    n = len(found.rounds) + 1
    rounds = "1 round" if n == 1 else f"{n} rounds"
    voice.say(
        f"No model yet: it begins by more sums than the {rounds} so far. {out} holds those of all "
        "places; send it to them."
    )
    here = quote(str(out))
    voice.say(f"Next, in each place:  halfseen sums DATA --plan plan.json --at {here} --out a.sums")
    voice.finish(sums=str(out), model=None, rounds=n, n_rows=float(found.n_rows))
