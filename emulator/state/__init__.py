"""The state as a whole: `flarebed state`, for which all kinds of binding are alike (`bindings/<kind>/state.py`).

contents.py   which resources a state folder has, and what each holds
capture.py    a copy of it, of one instant, while it is in use
archive.py    such a copy as one file
wrangler.py   what wrangler left in a state folder
staging.py    where what is to come is laid out; snapshots.py has the named ones
"""
