"""Resolution of relative IRI references: RFC 3986, section 5.2, applied to IRIs as SPARQL 1.1 section 4.1.1.2 asks.

Absolute references are left exactly as written; nothing is normalised beyond what resolution itself does.
"""

import re

DEFAULT_BASE = "http://tidings.example/"
"""The base IRI if neither the request nor the configuration has one."""

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def is_absolute(reference: str) -> bool:
    return _ABSOLUTE.match(reference) is not None


def resolve(base: str, reference: str) -> str:
    """The IRI of a reference in a document with this base."""
    if is_absolute(reference):
        return reference
    scheme, authority, path, query, _ = _split(base)
    _, ref_authority, ref_path, ref_query, fragment = _split(reference)
    if ref_authority is not None:
        authority, path, query = ref_authority, _without_dots(ref_path), ref_query
    elif ref_path:
        merged = ref_path if ref_path.startswith("/") else _merge(authority, path, ref_path)
        path, query = _without_dots(merged), ref_query
    elif ref_query is not None:
        query = ref_query
    return _join(scheme, authority, path, query, fragment)


def _split(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(text)
    if match is None:
        raise AssertionError("every string splits into the five parts of a reference")
    scheme, authority, path, query, fragment = match.groups()
    return scheme, authority, path or "", query, fragment


def _merge(base_authority: str | None, base_path: str, path: str) -> str:
    if base_authority is not None and not base_path:
        return f"/{path}"
    return base_path[: base_path.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    """Section 5.2.4: remove dot segments."""
    segments = path.split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/".join(kept)


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )
