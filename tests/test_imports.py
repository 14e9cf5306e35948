"""What ``import halfseen`` loads."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import halfseen

EXTRAS = {"dask", "distributed", "matplotlib", "pandas", "polars"}
LATE = {"jinja2", "markupsafe", "pyarrow", "rich", "typer"}
"""Core dependencies that only reading a table, a page or the command line has to wait for."""


def loaded_by(imports):
    code = f"import json, sys, {imports}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(result.stdout)}


def test_importing_the_package_loads_no_extra_that_its_core_dependencies_do_not():
    # scikit-learn itself loads pandas where it is installed.
    core = loaded_by("sklearn.base, sklearn.utils.validation, numba, scipy.optimize")
    assert (loaded_by("halfseen") - core) & (EXTRAS | LATE) == set()


def test_nothing_that_is_installed_imports_what_is_not():
    for path in Path(halfseen.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"benchmarks", "tests"}, path


def test_models_and_functions_load_none_either():
    core = loaded_by("sklearn.base, sklearn.utils.validation, numba, scipy.optimize")
    names = "halfseen; [getattr(halfseen, name) for name in halfseen.__all__]; import json"
    assert (loaded_by(names) - core) & EXTRAS == set()


def test_the_public_names_are_there():
    import halfseen

    for name in halfseen.__all__:
        assert getattr(halfseen, name) is not None


def test_dir_and_all_show_every_estimator_and_only_public_names():
    import halfseen
    from halfseen import models

    assert set(models.ESTIMATORS) <= set(halfseen.__all__)
    assert set(halfseen.__all__) | {"__version__", "recovery", "simulate"} == set(dir(halfseen))
