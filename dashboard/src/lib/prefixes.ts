/** Prefixes for IRIs: well-known ones, those of the user's text, and those inferred from the data. */

export const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ["rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"],
  ["rdfs", "http://www.w3.org/2000/01/rdf-schema#"],
  ["owl", "http://www.w3.org/2002/07/owl#"],
  ["xsd", "http://www.w3.org/2001/XMLSchema#"],
  ["skos", "http://www.w3.org/2004/02/skos/core#"],
  ["foaf", "http://xmlns.com/foaf/0.1/"],
  ["dct", "http://purl.org/dc/terms/"],
  ["dc", "http://purl.org/dc/elements/1.1/"],
  ["schema", "http://schema.org/"],
  ["prov", "http://www.w3.org/ns/prov#"],
  ["sosa", "http://www.w3.org/ns/sosa/"],
  ["ssn", "http://www.w3.org/ns/ssn/"],
  ["geo", "http://www.w3.org/2003/01/geo/wgs84_pos#"],
  ["geosparql", "http://www.opengis.net/ont/geosparql#"],
  ["void", "http://rdfs.org/ns/void#"],
  ["sd", "http://www.w3.org/ns/sparql-service-description#"],
  ["light", "http://tidings.example/lighting#"],
]);

const DECLARED = /PREFIX\s+([\p{L}\d_.-]*):\s*<([^<>\s]*)>/giu;
const LOCAL = /^[\p{L}\d_][\p{L}\d_.-]*$/u;

/** The prefixes that a text declares, before the well-known ones. */
export function prefixesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", iri = ""] of text.matchAll(DECLARED)) found.set(name, iri);
  for (const [name, iri] of WELL_KNOWN) if (!found.has(name)) found.set(name, iri);
  return found;
}

/** A request text in one line: without its prologue, comments and line ends. */
export function gist(text: string, most = 160): string {
  const line = text.replace(/^\s*#.*$/gm, "").replace(/\b(PREFIX\s+\S*:|BASE)\s*<[^<>\s]*>/gi, "").replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** The IRI that a name with one of the prefixes stands for. */
export function expanded(name: string, prefixes: ReadonlyMap<string, string> = WELL_KNOWN): string | null {
  const [, prefix, local = ""] = /^([^:]*):(?!\/\/)(.*)$/su.exec(name) ?? [];
  const start = prefix === undefined ? undefined : prefixes.get(prefix);
  return start === undefined ? null : start + local;
}

/** `prefix:local`, if one of the prefixes fits. */
export function compact(iri: string, prefixes: ReadonlyMap<string, string> = WELL_KNOWN): string | null {
  let best: string | null = null;
  let longest = 0;
  for (const [name, start] of prefixes) {
    if (start.length <= longest || !iri.startsWith(start)) continue;
    const local = iri.slice(start.length);
    if (!LOCAL.test(local) || local.endsWith(".")) continue;
    best = `${name}:${local}`;
    longest = start.length;
  }
  return best;
}

/** A short form of an IRI: with a prefix, or without its middle. */
export function shortened(iri: string, prefixes: ReadonlyMap<string, string> = WELL_KNOWN, most = 56): string {
  const short = compact(iri, prefixes);
  if (short !== null) return short;
  if (iri.length <= most) return `<${iri}>`;
  const half = Math.floor((most - 1) / 2);
  return `<${iri.slice(0, half)}…${iri.slice(-half)}>`;
}

/** The form of an IRI in a text, and the declaration that this form needs. */
export function named(iri: string, text: string): { readonly name: string; readonly declaration: string } {
  const prefixes = prefixesOf(text);
  const name = compact(iri, prefixes);
  if (name === null) return { name: `<${iri}>`, declaration: "" };
  const prefix = name.slice(0, name.indexOf(":"));
  const declared = new RegExp(`PREFIX\\s+${prefix}:`, "i").test(text);
  return { name, declaration: declared ? "" : `PREFIX ${prefix}: <${prefixes.get(prefix) ?? ""}>\n` };
}
