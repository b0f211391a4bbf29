"""Official files from their publishers.

In: the name of an edition. Out: verified files in a folder.
"""
