/** The graphs of the broker with their sizes, and their classes and predicates, for completion and suggestions. */

import { broker } from "./broker.svelte";

export const DEMO = "urn:tidings:demo";

export interface Graph {
  readonly iri: string;
  readonly triples: number;
}

export interface Word {
  readonly iri: string;
  readonly uses: number;
}

export interface Vocabulary {
  readonly classes: readonly Word[];
  readonly predicates: readonly Word[];
}

const SIZES = `SELECT ?g (COUNT(*) AS ?n) WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } GROUP BY ?g ORDER BY DESC(?n)`;
const CLASSES = `SELECT ?word (COUNT(*) AS ?n) WHERE { ?s a ?word } GROUP BY ?word ORDER BY DESC(?n) LIMIT 300`;
const PREDICATES = `SELECT ?word (COUNT(*) AS ?n) WHERE { ?s ?word ?o } GROUP BY ?word ORDER BY DESC(?n) LIMIT 300`;

class Graphs {
  all = $state.raw<readonly Graph[]>([]);
  loaded = $state(false);
  private words = new Map<string, Promise<Vocabulary>>();
  private asked = 0;
  private shown = 0;

  get hasDemo(): boolean {
    return this.all.some((graph) => graph.iri === DEMO);
  }

  /** The graph to show first: the default graph, unless it is empty. */
  get liveliest(): string {
    const standard = this.all.find((graph) => graph.iri === "");
    return standard && standard.triples > 0 ? "" : (this.all.find((graph) => graph.iri !== "")?.iri ?? "");
  }

  /** Ask again. Answers may come out of order: the latest request that has an answer determines what is shown. */
  async load(): Promise<void> {
    const turn = ++this.asked;
    try {
      const rows = await broker.client.select(SIZES);
      if (turn < this.shown) return;
      this.shown = turn;
      this.all = rows.filter((row) => row["n"]?.value !== "0").map((row) => ({ iri: row["g"]?.value ?? "", triples: Number(row["n"]?.value) }));
      this.words.clear();
    } catch (error) {
      broker.heed(error);
      throw error;
    } finally {
      this.loaded = true;
    }
  }

  forget(): void {
    this.shown = this.asked; // answers in flight are for the user before
    this.all = [];
    this.words.clear();
  }

  /** Classes and predicates of a graph, asked for once. */
  vocabulary(graph: string): Promise<Vocabulary> {
    let words = this.words.get(graph);
    if (words === undefined) {
      words = wordsOf(graph);
      words.catch(() => this.words.delete(graph));
      this.words.set(graph, words);
    }
    return words;
  }
}

async function wordsOf(graph: string): Promise<Vocabulary> {
  const dataset = graph ? { defaultGraphs: [graph] } : {};
  const [classes, predicates] = await Promise.all([CLASSES, PREDICATES].map((query) => broker.client.select(query, dataset)));
  const words = (rows: typeof classes): Word[] => (rows ?? []).map((row) => ({ iri: row["word"]?.value ?? "", uses: Number(row["n"]?.value) }));
  return { classes: words(classes), predicates: words(predicates) };
}

export const graphs = new Graphs();
