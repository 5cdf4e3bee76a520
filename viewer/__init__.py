"""Episode files as one page that a browser opens: what happened, step by step, and why it was paid."""
