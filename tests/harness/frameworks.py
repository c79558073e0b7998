"""Frameworks: what the tests have to know of each lies in the folder of its subject, tests/subjects/NAME/.

    NAME_subject.*   the subject (subject.py); `packages=` of its first directive are installed by ./dev
    harness.py       Plain: a class that runs a program without polygraph and reads the framework's own report (plain.py)
                     COMPONENTS: {name: function(builder)} for variants that say uses=NAME; each returns
                     {"cflags": […], "libs": […], "sources": […]}. Optional
                     groups(name): of a test's name the groups that it is in, from the outermost. Optional: the
                     framework keeps nothing together
                     FIXED: the tests have one order only. Optional
                     RELATIONS: [(what, test, others)]: what the subject declares besides. Optional
    points.*         a program that notes where its tests are, for robust/test_points.py. Where there are no points: none
    restore.*        two tests that restore/stock.h explains
"""

import importlib.util
import pathlib
import types

SUBJECTS = pathlib.Path(__file__).resolve().parent.parent / "subjects"
DEFAULTS = {"COMPONENTS": {}, "groups": None, "FIXED": False, "RELATIONS": []}
_loaded = {}


def names():
    """All frameworks that have a subject."""
    return sorted(path.parent.name for path in SUBJECTS.glob("*/harness.py"))


def load(name):
    """harness.py of a framework, as a namespace in which nothing optional is missing."""
    if name not in _loaded:
        path = SUBJECTS / name / "harness.py"
        spec = importlib.util.spec_from_file_location(f"harness_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        _loaded[name] = types.SimpleNamespace(**{**DEFAULTS, **vars(module)})
    return _loaded[name]


def extra(name, stem):
    """points.* or restore.* of a framework; None: there is none."""
    return next((SUBJECTS / name).glob(f"{stem}.c*"), None)
