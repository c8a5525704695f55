"""Collections to summarize, and sentences that people compressed."""
