"""A backend's tools over HTTP: ``callgym serve ID``, and ``RemoteBackend`` on the other side.

- ``app``: ``make_app``, the Starlette application and its routes;
- ``run``: ``serve`` and ``serving``, which run it;
- ``limits``: ``ServerLimits``, how much one server takes.

Importing this package imports no web framework.
"""
