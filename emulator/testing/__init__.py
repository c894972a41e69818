"""Workers in tests: held in the test's own process, on time that stands still until it is moved."""
