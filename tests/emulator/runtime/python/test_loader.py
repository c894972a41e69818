"""Where a Worker's modules come from, and what is said about those of the same name or missing."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from flarebed.emulator.runtime.python.loader import Loader
from flarebed.emulator.runtime.python.modules import HostModules

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Project:
    """A project in a temporary folder, its Worker in src/; `installed` stands for the environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.installed = folder / "installed"
        self.installed.mkdir()
        self.write("src/fb_entry.py", "")
        self.loader = Loader(self.folder / "src" / "fb_entry.py", self.folder)

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def load(self, entry: str) -> ModuleType:
        self.write("src/fb_entry.py", entry)
        return self.loader.load()

    def notes(self, entry: str) -> list[str]:
        with pytest.raises(ModuleNotFoundError) as caught:
            self.load(entry)
        return list(getattr(caught.value, "__notes__", []))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    HostModules.installed()
    made = Project(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(made.installed)])
    yield made
    made.loader.unload()
    for name in [name for name in sys.modules if name.startswith("fb_")]:
        del sys.modules[name]


def test_the_standard_library_comes_before_the_workers_files(project: Project) -> None:
    project.write("src/json.py", "raise AssertionError")
    project.write("src/colorsys.py", "raise AssertionError")
    module = project.load("import json, colorsys")
    assert module.json is json
    assert module.colorsys.__file__.startswith(sysconfig.get_path("stdlib"))
    assert project.loader.warnings() == []


def test_the_workers_files_come_before_packages_with_a_warning(project: Project) -> None:
    (project.installed / "fb_both.py").write_text("WHOSE = 'installed'")
    (project.installed / "fb_unused.py").write_text("")
    project.write("src/fb_both/__init__.py", "WHOSE = 'the Worker\\'s'")
    project.write("src/fb_unused.py", "")
    assert project.load("import fb_both").fb_both.WHOSE == "the Worker's"
    assert project.loader.warnings() == [
        "src/fb_both/__init__.py has the name of an installed package and is imported instead of it. In production a "
        'package that the Worker depends on comes first: if "fb_both" is one, rename the file.'
    ]


def test_the_workers_files_come_before_the_folders_of_tests(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest puts them first; what has the same name there is not the Worker's, and no package to warn of."""
    project.write("tests/fb_helpers.py", "WHOSE = 'the test\\'s'")
    project.write("src/fb_helpers.py", "WHOSE = 'the Worker\\'s'")
    monkeypatch.setattr(sys, "path", [str(project.folder / "tests"), *sys.path])
    before = list(sys.path)
    assert project.load("import fb_helpers").fb_helpers.WHOSE == "the Worker's"
    assert project.loader.warnings() == []
    project.loader.unload()
    assert sys.path == before


def test_a_loaded_package_steps_aside_until_the_worker_is_gone(project: Project) -> None:
    (project.installed / "fb_loaded").mkdir()
    (project.installed / "fb_loaded" / "__init__.py").write_text("WHOSE = 'installed'")
    (project.installed / "fb_loaded" / "part.py").write_text("")
    __import__("fb_loaded.part")
    before = sys.modules["fb_loaded"]
    project.write("src/fb_loaded.py", "WHOSE = 'the Worker\\'s'")
    assert project.load("import fb_loaded").fb_loaded.WHOSE == "the Worker's"
    assert "fb_loaded.part" not in sys.modules
    project.loader.unload()
    assert sys.modules["fb_loaded"] is before
    assert "fb_loaded.part" in sys.modules


def test_what_flarebed_needs_later_does_not_step_aside(project: Project) -> None:
    project.write("src/httpx.py", "raise AssertionError")
    assert project.load("import httpx").httpx.AsyncClient.__name__ == "AsyncClient"
    assert project.loader.warnings() == [
        "src/httpx.py has the name of a package that flarebed needs, so `import httpx` gives the package. "
        "Rename the file."
    ]


def test_the_runtimes_own_modules_come_first(project: Project) -> None:
    project.write("src/asgi.py", "raise AssertionError")
    assert project.load("import asgi").asgi.__name__ == "workers.asgi"
    assert project.loader.warnings() == []


def test_python_modules_serves_what_the_environment_lacks(project: Project) -> None:
    (project.installed / "fb_there.py").write_text("WHOSE = 'installed'")
    project.write("python_modules/fb_there.py", "WHOSE = 'vendored'")
    project.write("python_modules/fb_lacking.py", "WHOSE = 'vendored'")
    module = project.load("import fb_there, fb_lacking")
    assert (module.fb_there.WHOSE, module.fb_lacking.WHOSE) == ("installed", "vendored")


def test_the_environment_beside_the_project(project: Project) -> None:
    (project.installed / "fb_there.py").write_text("WHOSE = 'elsewhere'")
    project.write(f".venv/lib/python{VERSION}/site-packages/fb_there.py", "WHOSE = 'beside'")
    assert project.load("import fb_there").fb_there.WHOSE == "beside"


def test_a_missing_package(project: Project) -> None:
    assert project.notes("import fb_missing.part") == [
        "If fb_missing is a package, it is not installed in this environment; add it with: uv add fb_missing  (or: pip "
        "install fb_missing). If it is a module of yours, src/fb_missing.py is missing."
    ]


def test_a_missing_package_of_another_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert project.notes("import sklearn") == [
        "If sklearn is a package, it is not installed in this environment; add it with: uv add scikit-learn  (or: pip "
        "install scikit-learn). If it is a module of yours, src/sklearn.py is missing."
    ]


def test_a_missing_part_of_a_package_that_is_there(project: Project) -> None:
    assert project.notes("import json.fb_missing") == []


def test_an_environment_of_another_python(project: Project) -> None:
    project.write(".venv/lib/python3.9/site-packages/fb_there.py", "")
    assert project.notes("import fb_there")[1:] == [
        f"The project's .venv is one of Python 3.9, while flarebed runs on Python {VERSION} and can't use it. Run "
        "flarebed from it: uv add --dev flarebed, then uv run flarebed dev"
    ]


def test_src_is_not_a_package(project: Project) -> None:
    assert project.notes("import src.other") == [
        "If your main module is inside the 'src' directory then your import statement shouldn't include a 'src.' prefix"
    ]


def test_randomness_bound_at_start_works_afterwards(project: Project) -> None:
    source = "import os\nfrom random import choice\ndef draw(bytes=os.urandom): return choice('a'), len(bytes(4))"
    assert project.load(source).draw() == ("a", 4)
