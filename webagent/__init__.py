"""webagent: errands on the web that fail in one place."""
