"""The store: audio by content, records in append-only JSONL, locks, atomic writes."""
