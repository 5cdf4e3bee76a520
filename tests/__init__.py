"""The tests; a package, so that they can share what browsers need."""
