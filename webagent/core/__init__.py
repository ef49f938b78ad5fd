"""The nouns of DESIGN section 2 as frozen data and pure functions. No I/O, no clock, no YAML."""
