"""BFCL's web search categories without the web: the two tools over an index of documents.

``index`` builds and searches an index; ``tools`` are the two tools over it, or over a provider of one's own;
``tasks`` loads the official questions; ``corpus`` and ``starter`` are a small made-up encyclopedia and questions on
it. Nothing here ever opens a network connection.
"""
