"""Transcripts as engines print them, by a writer of their own: what the reader is tested against."""

from agattn.engines.run import run


def end_mark(lines):
    """The last line of a data block with these lines: their number and their polynomial hash."""
    letters = "".join(line + "\n" for line in lines)
    hashed = sum(ord(c) * pow(1000003, n, 2**61 - 1) for n, c in enumerate(reversed(letters)))
    return f"agattn-end {len(lines)} {hashed % (2**61 - 1)}"


def sealed(text):
    """A transcript whose block has the checksum of its lines, whatever they say."""
    lines = text.split("\n")
    begin = next((n for n, line in enumerate(lines) if line.startswith("agattn-data")), None)
    ends = [n for n, line in enumerate(lines) if line.startswith("agattn-end")]
    if begin is None or not ends or ends[0] < begin:
        return text
    said = lines[ends[0]].split(" ")
    checksum = end_mark(lines[begin + 1 : ends[0]]).split(" ")[2]
    lines[ends[0]] = " ".join([*said[:2], checksum, *said[3:]])
    return "\n".join(lines)


def block(problem, values, keep=lambda lines: lines, more=()):
    """A well-formed transcript of integers, and of more lines, as a command for a shell."""
    lines = [*(f"integer {name} {value}" for name, value in values.items()), *more]
    text = [f"agattn-data 1 {problem.task} {problem.digest}", *lines, end_mark(lines)]
    return "; ".join(f"echo '{line}'" for line in keep(text))


def fibers(**changes):
    """The true numbers of the fibers of M(2,1,2), but for some changes, such as ``length_1x2x2=7``."""
    right = {
        "escapes@1,1,1": 0, "length@1,1,1": 2, "points@1,1,1": 1,
        "escapes@1,1,2": 0, "length@1,1,2": 2, "points@1,1,2": 2,
        "escapes@1,2,2": 0, "length@1,2,2": 1, "points@1,2,2": 1,
    }  # fmt: skip
    return right | {name.replace("_", "@").replace("x", ","): value for name, value in changes.items()}


def asking(question, other):
    """In the place of ``run``: Singular is asked for a number in another way, in every script that asks."""

    def run_otherwise(problem, installation, script):
        text = script.replace(f", {question});", f", {other});")
        run_otherwise.changed += text != script
        return run(problem, installation, script=text)

    run_otherwise.changed = 0
    return run_otherwise
