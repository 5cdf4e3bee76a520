"""Starter tasks in BFCL's shapes, made by seeded generators that were written for this project."""
