"""Where journals, leases, effects and files are kept."""
