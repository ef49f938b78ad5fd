"""Those who carry out a segment: in a real browser, or as a shipped fake."""
