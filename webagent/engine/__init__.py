"""Decisions: pure, synchronous functions of plan and journal. No I/O, no clock, no browser."""
