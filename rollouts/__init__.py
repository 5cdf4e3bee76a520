"""Rollouts: policies, and runners that play many episodes with them."""
