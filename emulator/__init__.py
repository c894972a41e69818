"""flarebed: a local Cloudflare for Python Workers."""
