"""Trees over the words of a sentence and their parts: arborescences, charts, head automata."""
