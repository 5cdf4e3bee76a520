"""Runs compared: means with their uncertainty, paired differences, pass@k and pass^k, curves."""
