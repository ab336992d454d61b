// CodeMirror, read-only, with the cost of each line in the margin. It stands in
// a shadow root: there its styles are adopted sheets, which a strict policy
// allows, while style elements are not.

import { cpp } from "@codemirror/lang-cpp";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, defaultHighlightStyle, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { defaultKeymap } from "@codemirror/commands";
import { Compartment, EditorSelection, EditorState, type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, drawSelection, gutter, highlightSpecialChars, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { SourceLine } from "../api/sources";
import { count, flops, time } from "../format/number";
import { darkHighlight, editorTheme } from "./editor-theme";

interface Props {
  name: string;
  text: string;
  metrics: ReadonlyMap<number, SourceLine>;
  clicked: readonly number[];
  related: readonly number[];
  selected: readonly number[];
  goTo: number | null;
  turn: number;
  onLines: (lines: number[]) => void;
}

function language(name: string): Extension {
  if (/\.(py|pyi)$/.test(name)) return python();
  if (/\.(c|cc|cpp|h|hpp)$/.test(name)) return cpp();
  return /\.json$/.test(name) ? json() : [];
}

class Cost extends GutterMarker {
  constructor(
    readonly text: string,
    readonly part: number,
  ) {
    super();
  }
  override eq(other: GutterMarker) {
    return other instanceof Cost && other.text === this.text && other.part === this.part;
  }
  override toDOM() {
    const element = document.createElement("span");
    element.className = "cost";
    element.style.setProperty("--part", String(this.part));
    element.textContent = this.text;
    return element;
  }
}

function costs(metrics: ReadonlyMap<number, SourceLine>): Extension {
  const most = Math.max(1, ...[...metrics.values()].map((one) => one.busy_ns));
  const column = (title: string, text: (one: SourceLine) => string, part: (one: SourceLine) => number) =>
    gutter({
      class: `cost-gutter ${title}`,
      lineMarker: (view, line) => {
        const one = metrics.get(view.state.doc.lineAt(line.from).number);
        return one ? new Cost(text(one), part(one)) : null;
      },
      initialSpacer: () => new Cost(title === "count" ? "99,999" : "999.9 µs", 0),
    });
  const tips = hoverTooltip((view, at) => {
    const line = view.state.doc.lineAt(at);
    const one = metrics.get(line.number);
    if (!one) return null;
    return {
      pos: line.from,
      above: true,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "cost-tip";
        const engines = Object.entries(one.engines).map(([name, sum]) => `${name}: ${count(sum.count)}, ${time(sum.busy_ns)}`);
        dom.textContent = [`${count(one.count)} instructions, busy ${time(one.busy_ns)}, ${flops(one.flops)}`, ...engines].join("\n");
        return { dom };
      },
    };
  });
  return [column("count", (one) => count(one.count), () => 0), column("busy", (one) => time(one.busy_ns), (one) => one.busy_ns / most), tips];
}

function lineMarks(state: EditorState, marks: readonly (readonly [readonly number[], string])[]): Extension {
  const kinds = new Map<number, string>();
  for (const [lines, kind] of marks) for (const line of lines) if (line >= 1 && line <= state.doc.lines) kinds.set(line, kind);
  const builder = new RangeSetBuilder<Decoration>();
  for (const [line, kind] of [...kinds].sort(([a], [b]) => a - b)) {
    const { from } = state.doc.line(line);
    builder.add(from, from, Decoration.line({ class: kind }));
  }
  return EditorView.decorations.of(builder.finish());
}

/** The lines that a selection touches. */
function touched(state: EditorState): number[] {
  const lines = new Set<number>();
  for (const range of state.selection.ranges) {
    const last = state.doc.lineAt(range.to).number;
    for (let line = state.doc.lineAt(range.from).number; line <= last; line++) lines.add(line);
  }
  return [...lines];
}

export function Editor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const parts = useRef({ costs: new Compartment(), marks: new Compartment() });
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const tell = (editor: EditorView) => {
      const lines = touched(editor.state).filter((line) => latest.current.metrics.has(line));
      if (lines.length > 0) latest.current.onLines(lines);
    };
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: props.text,
        extensions: [
          lineNumbers(),
          foldGutter(),
          parts.current.costs.of(costs(props.metrics)),
          parts.current.marks.of([]),
          highlightSpecialChars(),
          drawSelection(),
          bracketMatching(),
          highlightSelectionMatches(),
          search({ top: true }),
          language(props.name),
          syntaxHighlighting(darkHighlight),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          editorTheme,
          EditorState.readOnly.of(true),
          EditorState.allowMultipleSelections.of(true),
          EditorView.contentAttributes.of({ "aria-label": `Source ${props.name}`, "aria-readonly": "true", tabindex: "0" }),
          keymap.of([{ key: "Enter", run: (one) => (tell(one), true) }, ...searchKeymap, ...foldKeymap, ...defaultKeymap]),
          EditorView.domEventHandlers({ mouseup: (_event, one) => (setTimeout(() => tell(one)), false) }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [props.name, props.text]);

  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.costs.reconfigure(costs(props.metrics)) });
  }, [props.metrics]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const marks = lineMarks(editor.state, [[props.selected, "line-selected"], [props.related, "line-related"], [props.clicked, "line-clicked"]]);
    editor.dispatch({ effects: parts.current.marks.reconfigure(marks) });
  }, [props.selected, props.related, props.clicked, props.text]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || props.goTo === null || props.goTo > editor.state.doc.lines || props.goTo < 1) return;
    const { from } = editor.state.doc.line(props.goTo);
    editor.dispatch({ selection: EditorSelection.cursor(from), effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }, [props.turn, props.goTo, props.text]);

  return <div className="editor" ref={host} />;
}
