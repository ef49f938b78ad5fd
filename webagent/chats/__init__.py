"""Models that can be asked: the port `Chat` over the anthropic SDK, and a shipped fake."""
