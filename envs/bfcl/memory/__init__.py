"""BFCL's memory categories: three stores, the conversations that fill them, and the questions on them.

``store`` says what a store is and opens one; ``kv``, ``vector`` and ``summary`` are the three; ``session`` is a
store as a tool backend; ``snapshots`` fills stores from earlier conversations; ``tasks`` loads the questions;
``starter`` makes conversations and questions of our own.
"""
