"""Trainers: adapters from environments to training libraries."""
