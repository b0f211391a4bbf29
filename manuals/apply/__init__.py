"""How people apply manuals: what they call sections, and the procedure for a case.

In: parsed editions, the statements of a case. Out: names of units, steps of a plan.
"""
