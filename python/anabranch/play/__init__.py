"""The playground: a page on this machine that runs a scenario again with each turn of a knob.

`document` reads a scenario, `controls` says what of it can be turned, `running` runs it in a
worker process (`worker`, `pool`), `server` answers the page in `assets`; `lab` is a course on it.
"""
