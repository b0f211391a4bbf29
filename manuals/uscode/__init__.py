"""Title 18 of the United States Code.

In: OLRC or GPO HTML; text that cites statutes. Out: parsed editions, statutes cited.
"""
