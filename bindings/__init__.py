"""The local services behind a Worker's bindings. Nothing here knows the runtime that the Worker runs on."""
