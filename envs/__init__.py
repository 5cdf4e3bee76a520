"""Environments, one folder a benchmark."""
