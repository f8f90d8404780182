/** CodeMirror, configured for SPARQL. It is a separate chunk, which the page loads when it shows an editor. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { sparql } from "codemirror-lang-sparql";

import type { Vocabulary } from "../lib/graphs.svelte";
import { nonce } from "../lib/nonce";
import { completing } from "./completion";
import { theme } from "./theme";

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly changed: (text: string) => void;
  readonly run: () => void;
  readonly subscribe?: () => void;
  readonly vocabulary: () => Promise<Vocabulary>;
}

export class Editor {
  private readonly view: EditorView;

  constructor(options: EditorOptions) {
    const keys = [
      { key: "Mod-Enter", run: command(options.run) },
      ...(options.subscribe ? [{ key: "Mod-Shift-Enter", run: command(options.subscribe) }] : []),
    ];
    const state = EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        Prec.highest(keymap.of(keys)),
        lineNumbers(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        sparql(),
        autocompletion({ override: [completing(options.vocabulary)], icons: false }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.changed(update.state.doc.toString());
        }),
        theme,
      ],
    });
    this.view = new EditorView({ state, parent: options.parent });
  }

  set(text: string): void {
    if (text === this.view.state.doc.toString()) return;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  /** Mark the place of a syntax error that the broker's parser found, or remove the mark. */
  mark(place: Place | null, message: string): void {
    const { doc } = this.view.state;
    const found: Diagnostic[] = [];
    if (place !== null) {
      const line = doc.line(Math.max(1, Math.min(place.line, doc.lines)));
      const from = Math.min(line.from + Math.max(0, place.column - 1), line.to);
      const word = /^\S+/.exec(line.text.slice(from - line.from))?.[0].length ?? 0;
      found.push({ from: word ? from : Math.max(line.from, from - 1), to: from + Math.max(word, 0), severity: "error", message });
    }
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  focus(): void {
    this.view.focus();
  }

  destroy(): void {
    this.view.destroy();
  }
}

function command(run: () => void): () => boolean {
  return () => {
    run();
    return true;
  };
}
