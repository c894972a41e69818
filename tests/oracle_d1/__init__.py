"""Puts the questions of tests/bindings/d1/data to `wrangler dev`."""
