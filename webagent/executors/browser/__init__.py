"""The real browser; the only package that imports Playwright."""
