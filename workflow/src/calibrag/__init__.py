"""Question answering with confidence: agents, the record of what they did, and how sure it lets one be."""
