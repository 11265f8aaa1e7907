"""One folder for each topic: what it plans, and the rules that hold for it. `plan.py` names them in order."""
