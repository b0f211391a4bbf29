"""Records and readers that every source shares.

In: text that cites. Out: ``Edition``, ``Manual``, ``Section``, ``Reference``.
"""
