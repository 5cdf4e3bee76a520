"""API-Bank: levels 1 to 3."""
