"""What the simulated tools run on where API-Bank's own files are not at hand: tables and documentation of our own.

    documents.DOCUMENTS        # what each tool says of itself
    tables.databases()         # the 19 databases of levels 1 and 2
    tables.builtin()           # the tables inside the tools, mostly of level 3
    tables.external()          # what the dictionary and the translator know

Every person, film, hotel, address and text is invented or told in our own words; historical dates, cities, and
languages are real.
"""
