"""Evaluations per second of cel-python, for matching.py: a question in JSON on the way in, the figures on the way out.

It runs in an interpreter of its own, which has that package and nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import celpy
from celpy import celtypes

question = json.load(sys.stdin)
environment = celpy.Environment(annotations={"device": celtypes.MapType})
activations = [{"device": celpy.json_to_cel(device)} for device in question["devices"]]
rates = []
for text in question["selectors"]:
    program = environment.program(environment.compile(text))
    matched = sum(program.evaluate(activation) == celtypes.BoolType(True) for activation in activations)
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < question["seconds"]:
        for activation in activations:
            program.evaluate(activation)
        done += len(activations)
    rates.append((done / (time.perf_counter() - start), int(matched)))
json.dump({"package": f"cel-python {version('cel-python')}", "rates": rates}, sys.stdout)
