"""BFCL's executable classes as our own simulators; see ``base`` for what one is and ``session`` for an episode's."""
