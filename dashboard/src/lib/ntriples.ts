/** N-Triples, as the broker writes them, to rows of subject, predicate and object. */

import type { Row, Term } from "tidings-client";

export const TRIPLE = ["subject", "predicate", "object"] as const;

const TERM = /<([^>]*)>|_:(\S+)|"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?/gy;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g;
const PLAIN: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

export function triplesOf(document: string): Row[] {
  return document.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map(rowOf);
}

function rowOf(line: string): Row {
  const terms: Term[] = [];
  let from = 0;
  while (terms.length < TRIPLE.length) {
    while (line[from] === " ") from += 1;
    TERM.lastIndex = from;
    const found = TERM.exec(line);
    if (found === null) throw new Error(`no triple: ${line.slice(0, 200)}`);
    terms.push(termOf(found));
    from = TERM.lastIndex;
  }
  const [subject, predicate, object] = terms as [Term, Term, Term];
  return { subject, predicate, object };
}

function termOf([, iri, blank, text, language, datatype]: RegExpExecArray): Term {
  if (iri !== undefined) return { type: "uri", value: unescaped(iri) };
  if (blank !== undefined) return { type: "bnode", value: blank };
  const value = unescaped(text ?? "");
  if (language !== undefined) return { type: "literal", value, "xml:lang": language };
  return datatype === undefined ? { type: "literal", value } : { type: "literal", value, datatype };
}

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(ESCAPE, (_, short?: string, long?: string, plain?: string) =>
    plain === undefined ? String.fromCodePoint(parseInt(short ?? long ?? "0", 16)) : (PLAIN[plain] ?? plain),
  );
}

/** A term of a line of the feed of commits. */
export function termFrom(text: string): Term {
  TERM.lastIndex = 0;
  const found = TERM.exec(text);
  return found === null ? { type: "literal", value: text } : termOf(found);
}
