"""Any environment over HTTP and WebSocket: ``app`` and ``run`` serve it, ``client`` plays on it."""
