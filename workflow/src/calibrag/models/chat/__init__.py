"""Chat models behind one narrow seam.

`seam` is the request, the reply and the protocol. `openai_api` calls a server. Around any model stand, from the inside
out, `spending` (what was used, budgets), `structured` (replies that keep to a JSON schema), `caching` (replies asked
for before). `opening` puts them together from the configuration, `batches` calls them from code without an event loop.
"""
