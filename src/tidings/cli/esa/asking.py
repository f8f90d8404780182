"""`tidings esa relate`, `evaluate` and `info`: use an index. None of them needs Spark."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.cli.input.arguments import UsageError
from tidings.extras import needing

if TYPE_CHECKING:
    from tidings.matching.esa.related import EsaRelatedness

_WHY = 5


def relate(arguments: Namespace) -> None:
    if len(arguments.what) != 2:
        raise UsageError('say which two phrases: tidings esa relate "vehicle park" "parking area"')
    left, right = arguments.what
    esa = _opened(arguments)
    related = float(esa.relate([left], [right])[0, 0])
    shared = esa.shared(left, right, arguments.why or _WHY)
    unknown = sorted({*esa.unknown(left), *esa.unknown(right)})
    if arguments.json:
        because = [{"title": each.title, "weight": round(each.weight, 6)} for each in shared]
        _print({"relatedness": round(related, 6), "because": because, "unknown": unknown})
        return
    print(f"{related:.3f}")
    for each in shared:
        print(f"  {each.weight:.3f}  {each.title}")
    if unknown:
        print(f"  not in the index: {', '.join(unknown)}")


def evaluate(arguments: Namespace) -> None:
    if not arguments.what:
        raise UsageError("say which pairs of words: files with a line `tiger<TAB>cat<TAB>7.35` for each, or archives")
    with _numbers():
        from tidings.lexicons.esa.pairs import read_sets
        from tidings.matching.esa.judgement import agreement

    sets = [each for path in arguments.what for each in read_sets(Path(path))]
    esa = _opened(arguments)
    found = [(name, agreement(esa, pairs)) for name, pairs in sets]
    if arguments.json:
        _print([{"set": name, **each._asdict(), "spearman": round(each.spearman, 4)} for name, each in found])
        return
    width = max(len(name) for name, _ in found)
    print(f"{'set':{width}}  {'pairs':>6}  {'unknown':>7}  spearman")
    for name, each in found:
        print(f"{name:{width}}  {each.pairs:>6,}  {each.unknown:>7,}  {each.spearman:8.3f}")


def info(arguments: Namespace) -> None:
    if arguments.what:
        raise UsageError("info takes no words: --index DIR names the index")
    with _numbers():
        from tidings.lexicons.esa.folder import open_index, read_manifest

    folder = arguments.index or Path("esa")
    open_index(folder, verify=arguments.verify)
    manifest = read_manifest(folder)
    size = sum(file.bytes for file in manifest.files.values())
    told = {
        "source": manifest.source, "concepts": manifest.documents, "terms": manifest.terms,
        "postings": manifest.postings, "bytes": size, "parameters": manifest.parameters,
    }  # fmt: skip
    if arguments.json:
        _print(told)
        return
    for name in ("source", "concepts", "terms", "postings", "bytes"):
        value = told[name]
        print(f"{name:9} {value:,}" if isinstance(value, int) else f"{name:9} {value}")
    print("made with " + ", ".join(f"{name} {value:g}" for name, value in manifest.parameters.items()))
    if arguments.verify:
        print("all files are what was written")


def _opened(arguments: Namespace) -> "EsaRelatedness":
    with _numbers():
        from tidings.lexicons.esa.folder import open_index
        from tidings.matching.esa.related import EsaRelatedness

    return EsaRelatedness(open_index(arguments.index or Path("esa")))


def _numbers() -> Any:
    return needing("an ESA index needs numpy", "matching")


def _print(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))
