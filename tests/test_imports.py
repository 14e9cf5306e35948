"""What ``import halfseen`` loads."""

import json
import subprocess
import sys

EXTRAS = {
    "dask",
    "distributed",
    "jinja2",
    "markupsafe",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "rich",
    "typer",
}


def loaded_by(imports):
    code = f"import json, sys, {imports}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(result.stdout)}


def test_importing_the_package_loads_no_extra_that_its_core_dependencies_do_not():
    # scikit-learn itself loads pandas where it is installed.
    core = loaded_by("sklearn.base, sklearn.utils.validation, numba, scipy.optimize")
    assert (loaded_by("halfseen") - core) & EXTRAS == set()


def test_models_and_functions_load_none_either():
    core = loaded_by("sklearn.base, sklearn.utils.validation, numba, scipy.optimize")
    names = "halfseen; [getattr(halfseen, name) for name in halfseen.__all__]; import json"
    assert (loaded_by(names) - core) & EXTRAS == set()


def test_the_public_names_are_there():
    import halfseen

    for name in halfseen.__all__:
        assert getattr(halfseen, name) is not None
