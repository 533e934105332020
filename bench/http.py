"""A served store under load, in one run: one client, sixteen at once, and arrivals that do not wait for answers.

    python bench/http.py                          makes a store of 100,000 memories with the test encoder
    python bench/http.py --store team.db          uses one that is there (a copy of it is served)
    python bench/http.py --rows 3000 --seconds 3  quick, ratios only
    python bench/http.py --store postgresql://… --workers 2      a store on a server, by two processes

The server is a process of its own, as people run it; every search is recorded as theirs would be. Aims, each a ratio
within the run: no error; sixteen clients get through at least as much as one; their p95 is under 3 times their p50;
with arrivals at half of that throughput, p95 is under 5 times the p50 of one client.
"""

from __future__ import annotations

import sys

# A script's folder comes first on the path, and this file is called as a package of the standard library is: here that
# is meant by `http`, and so it is in the scripts beside this one, to whom this file gives it.
sys.path.append(sys.path.pop(0))
if __name__ == "http":
    del sys.modules["http"]
    import http

    sys.modules["http"] = http
else:
    from load import main

    sys.exit(main())
