"""Stage 2: sections into chunks, by one of two presets."""
