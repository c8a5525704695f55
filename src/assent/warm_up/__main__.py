"""``python -m assent.warm_up JOB …``: do these jobs, print the files of kernels they loaded."""

from __future__ import annotations

import json
import sys

from assent.warm_up.workers import do_all


def main(jobs: list[str]) -> None:
    """Do jobs in several processes; what went wrong ends in an error."""
    finished = do_all(jobs)
    print(json.dumps(sorted({str(path) for done in finished for path in done.loaded})))
    troubles = [f"{done.job}: {done.trouble}" for done in finished if done.trouble]
    if troubles:
        raise SystemExit("\n".join(troubles))


if __name__ == "__main__":
    main(sys.argv[1:])
