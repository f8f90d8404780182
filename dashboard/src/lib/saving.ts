/** Saves a document as a file, by a download of the browser. */

export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export interface Format {
  readonly name: string;
  readonly label: string;
  readonly ending: string;
}

export const TABLES: readonly Format[] = [
  { name: "csv", label: "CSV", ending: "csv" },
  { name: "tsv", label: "TSV", ending: "tsv" },
  { name: "json", label: "JSON", ending: "srj" },
  { name: "xml", label: "XML", ending: "srx" },
];

export const TRIPLES: readonly Format[] = [
  { name: "turtle", label: "Turtle", ending: "ttl" },
  { name: "ntriples", label: "N-Triples", ending: "nt" },
  { name: "rdfxml", label: "RDF/XML", ending: "rdf" },
  { name: "jsonld", label: "JSON-LD", ending: "jsonld" },
];
