"""API-Bank's tools as simulators: 53 of levels 1 and 2, 22 of level 3, each episode with its own tables."""
