/** RDF terms as SPARQL results in JSON write them, and rows of them. */

export interface Iri {
  readonly type: "uri";
  readonly value: string;
}

export interface Literal {
  readonly type: "literal";
  readonly value: string;
  readonly datatype?: string;
  readonly "xml:lang"?: string;
}

export interface BlankNode {
  readonly type: "bnode";
  readonly value: string;
}

export type Term = Iri | Literal | BlankNode;

/** A solution: a term for each variable that is bound. */
export type Row = Readonly<Record<string, Term>>;

export const XSD = "http://www.w3.org/2001/XMLSchema#";

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A term as N-Triples and SPARQL write it. */
export function written(term: Term): string {
  switch (term.type) {
    case "uri":
      return `<${term.value}>`;
    case "bnode":
      return `_:${term.value}`;
    case "literal":
      return quoted(term.value) + suffix(term);
  }
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"\n\r\t]/g, (character) => ESCAPES[character] ?? character)}"`;
}

function suffix(term: Literal): string {
  const language = term["xml:lang"];
  if (language) return `@${language}`;
  return term.datatype && term.datatype !== `${XSD}string` ? `^^<${term.datatype}>` : "";
}

/** A key for a term: two terms have the same key if and only if they are equal. */
export function termKey(term: Term | undefined): string {
  if (term === undefined) return "";
  switch (term.type) {
    case "uri":
      return `<${term.value}`;
    case "bnode":
      return `_${term.value}`;
    case "literal":
      return `"${term.value}\u0000${term["xml:lang"]?.toLowerCase() ?? term.datatype ?? ""}`;
  }
}

/** A key for a row: two rows have the same key if and only if they bind the same terms. */
export function rowKey(row: Row, variables: readonly string[]): string {
  let key = "";
  for (const variable of variables) key += `${termKey(row[variable])}\u0001`;
  return key;
}
