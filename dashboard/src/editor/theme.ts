/** The editor in the colours of the page. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { backgroundColor: "transparent", color: "var(--ink)", fontSize: "0.9rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 0.9rem" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none", paddingLeft: "0.4rem" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--sunk)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-tint) !important" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-tint)", outline: "1px solid var(--accent)" },
  ".cm-tooltip": { backgroundColor: "var(--sheet)", border: "1px solid var(--line)", borderRadius: "8px", boxShadow: "var(--shadow)", overflow: "hidden" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "0.84rem", maxHeight: "16rem" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "0.2rem 0.6rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--soft)", marginLeft: "1rem" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--removed-ink)" },
  ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px wavy var(--removed-ink)", backgroundColor: "var(--removed)" },
  ".cm-placeholder": { color: "var(--soft)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.definitionKeyword, tags.modifier], color: "var(--keyword)", fontWeight: "600" },
  { tag: [tags.variableName, tags.definition(tags.variableName), tags.special(tags.variableName)], color: "var(--ink)" },
  { tag: [tags.url, tags.link, tags.namespace, tags.typeName, tags.propertyName, tags.atom], color: "var(--iri)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool], color: "var(--number)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.bracket, tags.operator], color: "var(--soft)" },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];
