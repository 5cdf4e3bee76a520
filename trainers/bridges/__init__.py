"""Bridges: the one environment class in the forms that other training libraries ask for."""
