"""`flarebed check workflow`: a workflow is run as production may run it, and which rule of durable execution it breaks.

trial.py      one life of a Worker with one instance, on a state folder of its own, watched
evidence.py   the trials of one workflow: a plain run, replays, a life per step, each step again
rules/        one detector per rule, which reads the evidence and gives findings
check.py      puts them together: the door of this room
"""
