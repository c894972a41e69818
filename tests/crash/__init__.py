"""Proof that nothing is lost: a Worker's process is killed at every commit, and what the next makes of it is judged.

`python -m tests.crash` is the long form, `test_crash.py` a representative one. Scenarios are in `scenarios.py`, the
Worker they run on in `project/`.
"""
