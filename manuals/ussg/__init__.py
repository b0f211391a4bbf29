"""The US Sentencing Guidelines Manual with Appendix A.

In: the official PDF. Out: parsed editions, rows of Appendix A by statute.
"""
