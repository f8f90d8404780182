/** Reads the document of an answer, for every query form. */

import type { Results, Row } from "tidings-client";

import { TRIPLE, triplesOf } from "./ntriples";

export const FORMATS = "application/sparql-results+json, application/n-triples;q=0.9";

export interface Found {
  readonly variables: readonly string[];
  readonly rows: readonly Row[];
  /** The answer to ASK. */
  readonly boolean: boolean | null;
}

export async function read(response: Response): Promise<Found> {
  if (response.headers.get("Content-Type")?.startsWith("application/n-triples")) {
    return { variables: TRIPLE, rows: triplesOf(await response.text()), boolean: null };
  }
  const { head, results, boolean } = (await response.json()) as Results;
  return { variables: head.vars ?? [], rows: results?.bindings ?? [], boolean: boolean ?? null };
}
