"""Source in, source out: reads the user's functions, writes Python, and loads it; knows nothing of graphs."""
