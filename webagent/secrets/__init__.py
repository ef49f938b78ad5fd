"""Where secret values come from."""
