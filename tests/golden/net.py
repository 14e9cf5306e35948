"""A net under the house while it moves: what models learn and commands print, kept and compared.

    python tests/golden/net.py           compare with what is kept; fails if anything differs
    python tests/golden/net.py --texts   also keep today's texts (numbers are never kept again)
    python tests/golden/net.py --keep    keep numbers and texts
    python tests/golden/net.py mixture   compare only what has this word in its name

Numbers agree to 1e-9, texts and pages to the letter. Real tables come from the folder named by
HALFSEEN_DATA; those that are not there are left out of the comparison.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
DATA = Path(os.environ.get("HALFSEEN_DATA", HERE.parents[2] / "shared" / "data"))
TABLES = {  # of each: rows that are read, and options of fit
    "BEPS": (400, ["-k", "2"]),
    "CES11": (300, ["-k", "2"]),
    "HELPrct": (250, ["-k", "2"]),
    "ames": (80, ["-k", "2"]),
    "bfi": (200, ["-k", "2", "--covariance", "diag", "--columns", "A1,A2,A3,C1,C2,N1"]),
    "boys": (300, ["-k", "2"]),
    "cheating": (319, []),
    "election": (300, ["-k", "3"]),
    "gss_cat": (300, ["-k", "2"]),
    "icu": (150, ["-k", "2", "--covariance", "tied_diag"]),
    "icu_seq": (300, ["-k", "2", "--sequence", "RecordID", "--order", "block"]),
    "mammo": (150, ["-k", "2"]),
    "medpar": (150, ["-k", "2", "--covariance", "tied_diag"]),
    "nafld1": (150, ["-k", "2", "--covariance", "diag"]),
    "pbc": (200, ["-k", "2"]),
    "pbcseq": (300, ["-k", "2", "--sequence", "id"]),
    "penguins": (200, ["-k", "2", "--model", "gaussian", "--covariance", "factor"]),
    "sleepstudy": (180, ["-k", "2", "--covariance", "tied"]),
    "support2": (120, ["-k", "2"]),
    "thyroid": (300, ["-k", "2"]),
    "titanic": (300, ["-k", "2"]),
}
MOST_KEPT = 60
IMPUTED = ("penguins", "cheating", "mammo", "BEPS")


def simulated(seed, n, d, gaps=0.2):
    """Three overlapping groups of numbers, with gaps."""
    random = np.random.default_rng(seed)
    centres = random.normal(scale=2.0, size=(3, d))
    table = centres[random.integers(3, size=n)] + random.normal(size=(n, d))
    table[random.random((n, d)) < gaps] = np.nan
    return table


def numbers_of(value, path=""):
    """Every number of nested mappings, sequences and arrays, by its path."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in numbers_of(value[key], f"{path}/{key}").items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = list(value)
    if isinstance(value, list | tuple):
        pairs = (numbers_of(one, f"{path}/{i}") for i, one in enumerate(value))
        return {k: v for pair in pairs for k, v in pair.items()}
    if isinstance(value, np.ndarray | np.number | int | float) and not isinstance(value, bool):
        return {path: told(np.ravel(np.asarray(value, dtype=float)))}
    return {}


def told(values):
    """Few numbers as they are; of many, which may be a real table, only random projections."""
    if len(values) <= MOST_KEPT:
        return values.tolist()
    known = np.nan_to_num(values)
    weights = np.random.default_rng(len(values)).uniform(0.5, 1.5, size=(4, len(values)))
    return [*(weights @ known), float(np.isnan(values).sum())]


def learned(estimator):
    """All learned attributes that hold numbers."""
    names = [n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")]
    skipped = ("diagnostics_", "fit_time_")
    found = numbers_of({n: getattr(estimator, n) for n in sorted(names) if n not in skipped})
    for name in ("profiles_", "means_", "weights_"):
        with contextlib.suppress(AttributeError):
            found |= numbers_of(getattr(estimator, name), f"/{name}")
    return found


def models():
    """Each model on tables of its kind: a name, and a function that gives numbers."""
    from halfseen import (
        GammaPoisson,
        GaussianMixture,
        HiddenMarkov,
        Imputer,
        LatentClass,
        LatentDirichletAllocation,
    )

    def mixture(covariance, seed, **options):
        def run():
            X = simulated(seed, 200, 5)
            fitted = GaussianMixture(3, covariance_type=covariance, random_state=0, **options).fit(
                X
            )
            return learned(fitted) | numbers_of(
                {
                    "proba": fitted.predict_proba(X[:5]),
                    "score": fitted.score(X),
                    "bic": fitted.bic(X),
                    "fill": fitted.impute(X[:5]),
                    "sample": fitted.sample(5)[0],
                }
            )

        return run

    types = ("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full", "factor")
    for covariance in types:
        yield f"mixture {covariance}", mixture(covariance, 1)
    yield "mixture diag, maximum likelihood", mixture("diag", 2, prior=None, outliers=None)
    yield "mixture full, maximum likelihood", mixture("full", 2, prior=None, outliers=None)
    yield "mixture auto", mixture("auto", 3)
    yield (
        "mixture intervals",
        lambda: numbers_of(
            {
                k: [v.low, v.high] if hasattr(v, "low") else v
                for k, v in dict(
                    GaussianMixture(3, covariance_type="diag", random_state=0)
                    .fit(simulated(4, 300, 4))
                    .intervals(simulated(4, 300, 4))
                ).items()
            }
        ),
    )

    def classes(table, rows, k, columns=slice(None), **options):
        def run():
            frame = pd.read_csv(DATA / "tables" / f"{table}.csv", nrows=rows).iloc[:, columns]
            fitted = LatentClass(k, random_state=0, **options).fit(frame)
            return learned(fitted) | numbers_of(
                {"proba": fitted.predict_proba(frame.iloc[:5]), "score": fitted.score(frame)}
            )

        return run

    yield "classes election", classes("election", 400, 3, slice(1, 13))
    yield "classes cheating", classes("cheating", 319, 2, slice(1, 5))
    yield "classes penguins", classes("penguins", 344, 3, slice(1, 9))
    yield "classes mammo informative", classes("mammo", 400, 2, gaps="informative")

    def chain():
        frame = pd.read_csv(DATA / "tables" / "pbcseq.csv", nrows=400)
        columns = ["bili", "albumin", "stage", "ascites", "chol"]
        lengths = frame.groupby("id", sort=False).size().to_numpy()
        fitted = HiddenMarkov(2, random_state=0).fit(frame[columns], lengths=lengths)
        return learned(fitted) | numbers_of(
            {"score": fitted.score(frame[columns], lengths=lengths)}
        )

    yield "chain pbcseq", chain

    def topics(make, known):
        def run():
            random = np.random.default_rng(5)
            words = random.dirichlet(np.full(30, 0.3), size=3)
            loads = random.dirichlet(np.full(3, 0.4), size=300)
            X = random.poisson(40 * loads @ words).astype(float)
            if not known:
                X[random.random(X.shape) < 0.1] = np.nan
            fitted = make(random_state=0).fit(X)
            return learned(fitted) | numbers_of({"score": fitted.score(X)})

        return run

    for known in (True, False):
        said = "complete" if known else "gaps"
        yield f"gamma-Poisson {said}", topics(lambda **o: GammaPoisson(3, **o), known)
        yield f"lda {said}", topics(lambda **o: LatentDirichletAllocation(3, **o), known)

    def imputer():
        frame = pd.read_csv(DATA / "tables" / "penguins.csv").iloc[:, 1:]
        filled = Imputer(random_state=0).fit_transform(frame)
        return numbers_of({"filled": pd.DataFrame(filled).select_dtypes("number").to_numpy(float)})

    yield "imputer penguins", imputer
    yield (
        "imputer numbers",
        lambda: numbers_of({"filled": Imputer(random_state=0).fit_transform(simulated(6, 150, 6))}),
    )


def command(*words):
    """What a command prints, and how it ends."""
    from halfseen.cli import main

    out, err = io.StringIO(), io.StringIO()
    env = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    with (
        mock.patch.object(sys, "argv", ["halfseen", *words]),
        mock.patch.dict(os.environ, env),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return f"exit {code}\n{out.getvalue()}\n{err.getvalue()}"


def plain(text):
    """Text without what differs between runs: seconds."""
    return re.sub(r"\d+(\.\d+)? (s|seconds|minutes?)\b", "some seconds", text)


def commands(name, folder):
    """The commands of a stranger on one table: numbers, texts."""
    rows, options = TABLES[name]
    source = (DATA / "tables" / f"{name}.csv").read_text(encoding="utf-8", errors="replace")
    Path("t.csv").write_text("".join(source.splitlines(keepends=True)[: rows + 1]))
    texts = {"describe": plain(command("describe", "t.csv"))}
    texts["fit"] = plain(command("fit", "t.csv", *options, "--out", "m.halfseen"))
    said = command("fit", "t.csv", *options, "--out", "n.halfseen", "--json")
    start = said.find("{")
    told = json.JSONDecoder().raw_decode(said[start:])[0] if start >= 0 else {}
    texts["json keys"] = " ".join(sorted(told))
    numbers = numbers_of({k: v for k, v in told.items() if "second" not in k})
    texts["report"] = plain(command("report", "m.halfseen", "t.csv", "--out", "r.html"))
    if Path("r.html").exists():
        texts["page"] = hashlib.sha256(Path("r.html").read_bytes()).hexdigest()
    if name in IMPUTED:
        texts["impute"] = plain(command("impute", "t.csv", "--out", "f.csv"))
        if Path("f.csv").exists():
            filled = pd.read_csv("f.csv").select_dtypes("number").to_numpy(float)
            numbers |= numbers_of({"filled": filled})
    return numbers, texts


def measured():
    """All numbers, texts and seconds."""
    numbers, texts, seconds = {}, {}, {}
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    warnings.simplefilter("ignore")
    for name, run in models():
        if words and not any(word in name for word in words):
            continue
        begin = time.perf_counter()
        try:
            numbers[name] = run()
        except FileNotFoundError:
            continue
        seconds[name] = time.perf_counter() - begin
    home = Path.cwd()
    absent = [name for name in TABLES if not (DATA / "tables" / f"{name}.csv").exists()]
    if absent:
        print(f"{len(absent)} of {len(TABLES)} tables are not in {DATA}: they are not compared")
    for name in TABLES:
        if words and not any(word in f"table {name}" for word in words):
            continue
        if not (DATA / "tables" / f"{name}.csv").exists():
            continue
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                numbers[f"table {name}"], texts[name] = commands(name, folder)
            finally:
                os.chdir(home)
        texts[name] = {k: v.replace(folder, "") for k, v in texts[name].items()}
        seconds[f"table {name}"] = time.perf_counter() - begin
    return numbers, texts, seconds


def differences(kept, now):
    """What differs between kept and today's numbers, in words."""
    for name in kept.keys() & now.keys():
        for path in sorted(kept[name].keys() | now[name].keys()):
            one, two = kept[name].get(path), now[name].get(path)
            if one is None or two is None or len(one) != len(two):
                what = "gone" if two is None else "new" if one is None else "shape"
                yield f"{name}{path}: {what}"
            elif not np.allclose(one, two, rtol=1e-9, atol=1e-9, equal_nan=True):
                worst = np.nanmax(np.abs(np.array(one) - np.array(two)))
                yield f"{name}{path}: differs by up to {worst:.2g}"


def main():
    """Compare, or keep."""
    numbers, texts, seconds = measured()
    if len(sys.argv) > 2 and any(word.startswith("--") for word in sys.argv[1:]):
        sys.exit("Keep all, or compare some.")
    kept_numbers, kept_texts = HERE / "numbers.json", HERE / "texts.json"
    failed = False
    if "--keep" in sys.argv:
        kept_numbers.write_text(json.dumps({"numbers": numbers, "seconds": seconds}))
    else:
        kept = json.loads(kept_numbers.read_text())
        for line in differences(kept["numbers"], numbers):
            print(line)
            failed = True
        print(f"{sum(seconds.values()):.0f} s; {sum(kept['seconds'].values()):.0f} s when kept")
    if "--keep" in sys.argv or "--texts" in sys.argv:
        kept_texts.write_text(json.dumps(texts, indent=0))
    else:
        import difflib

        before = json.loads(kept_texts.read_text())
        for name in before.keys() & texts.keys():
            for part in before[name]:
                one, two = before[name][part], texts[name].get(part, "")
                if one != two:
                    failed = True
                    lines = difflib.unified_diff(
                        one.splitlines(), two.splitlines(), lineterm="", n=0
                    )
                    print(f"-- {name} {part}", *list(lines)[2:12], sep="\n")
    print("differs" if failed else "the same")
    sys.exit(failed)


if __name__ == "__main__":
    main()
