"""Stage 1: fetch, verify and parse editions of the manuals into sections."""
