"""Planning with a model: drafting a plan, and one segment regenerated."""
