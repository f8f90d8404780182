/** Completion: keywords, variables of the text, prefixes, and the classes and predicates of the data. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";

import type { Vocabulary, Word } from "../lib/graphs.svelte";
import { WELL_KNOWN, named, prefixesOf } from "../lib/prefixes";
import { whole } from "../lib/values";

const KEYWORDS = (
  "SELECT ASK CONSTRUCT DESCRIBE WHERE PREFIX BASE FROM NAMED DISTINCT REDUCED ORDER BY GROUP HAVING LIMIT OFFSET ASC DESC OPTIONAL UNION MINUS " +
  "GRAPH FILTER EXISTS NOT IN BIND AS VALUES UNDEF INSERT DELETE DATA WITH USING LOAD CLEAR DROP CREATE COPY MOVE ADD SILENT DEFAULT ALL " +
  "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT STR LANG DATATYPE BOUND IRI BNODE IF COALESCE REGEX CONTAINS STRSTARTS STRENDS STRLEN SUBSTR " +
  "UCASE LCASE CONCAT REPLACE ABS ROUND CEIL FLOOR NOW YEAR MONTH DAY HOURS MINUTES SECONDS isIRI isBlank isLiteral isNumeric"
).split(" ");

/** A completion source. It asks for the classes and predicates of the data when it first needs them. */
export function completing(vocabulary: () => Promise<Vocabulary>) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[?$<]?[\p{L}\d_:.#/-]*/u);
    if (word === null || (word.text === "" && !context.explicit)) return null;
    const text = context.state.doc.toString();
    if (/^[?$]/.test(word.text)) return { from: word.from, options: variables(text, word.text), validFor: /^[?$]\w*$/ };
    const words = await vocabulary().catch((): Vocabulary => ({ classes: [], predicates: [] })); // without the words of the data, still complete keywords
    const options = [...terms(words.predicates, "property", text), ...terms(words.classes, "class", text), ...prefixes(text), ...keywords()];
    return { from: word.from, options, validFor: /^<?[\p{L}\d_:.#/-]*$/u };
  };
}

function keywords(): Completion[] {
  return KEYWORDS.map((label) => ({ label, type: "keyword", boost: -20 }));
}

function variables(text: string, typed: string): Completion[] {
  const found = new Set([...text.matchAll(/[?$]\w+/g)].map(([name]) => name));
  found.delete(typed);
  return [...found].map((label) => ({ label, type: "variable" }));
}

function prefixes(text: string): Completion[] {
  const declared = prefixesOf(text);
  return [...WELL_KNOWN].map(([name, iri]) => ({
    label: `${name}:`,
    detail: iri,
    type: "namespace",
    boost: -10,
    apply: (view: EditorView, _: Completion, from: number, to: number) =>
      insert(view, from, to, `${name}:`, new RegExp(`PREFIX\\s+${name}:`, "i").test(text) ? "" : `PREFIX ${name}: <${declared.get(name) ?? iri}>\n`),
  }));
}

function terms(words: readonly Word[], type: string, text: string): Completion[] {
  return words.map(({ iri, uses }) => {
    const { name, declaration } = named(iri, text);
    return {
      label: name,
      detail: whole(uses),
      type,
      apply: (view: EditorView, _: Completion, from: number, to: number) => insert(view, from, to, name, declaration),
    };
  });
}

/** Inserts a word at the cursor, and the declaration of its prefix at the top. */
function insert(view: EditorView, from: number, to: number, word: string, declaration: string): void {
  view.dispatch({
    changes: [...(declaration ? [{ from: 0, insert: declaration }] : []), { from, to, insert: word }],
    selection: { anchor: from + declaration.length + word.length },
    userEvent: "input.complete",
  });
}
