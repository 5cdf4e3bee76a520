"""Perturbations: any task of calls made one of abstention, or harder, by a seed.

    env = gym.make("apibank/L1-v0", perturb=["remove_tool:0.3", "rename", {"name": "distractors", "count": 5}])

``specs`` lists them, ``perturbation`` says what one is, ``describe`` shows what one did, and ``disguise`` is how an
environment's backend is reached under other names. Each works on the tasks of every benchmark, and leaves alone
what it cannot soundly change.
"""
