"""BFCL's own rules, quirks included, as pure functions: decoding, checking, multi-turn, answers, leaderboard.

Source of every rule: ``bfcl-eval`` 2026.3.23 (PyPI, Apache-2.0), the code of ``ShishirPatil/gorilla`` 6ea5797.
"""
