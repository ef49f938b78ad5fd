"""The demo: two local shops with a ledger, shipped so that `webagent demo` needs no network."""
