// The editor in the page's colours: variables reach into its shadow root.

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const editorTheme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "var(--text-size)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--accent-soft) !important" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".cost-gutter": { minWidth: "52px" },
  ".cost": {
    display: "block",
    textAlign: "right",
    padding: "0 6px",
    color: "var(--dim)",
    background: "linear-gradient(to left, color-mix(in srgb, var(--warn) 40%, transparent) calc(var(--part) * 100%), transparent 0)",
  },
  ".line-clicked": { backgroundColor: "color-mix(in srgb, var(--accent) 32%, transparent)" },
  ".line-related": { backgroundColor: "color-mix(in srgb, var(--warn) 24%, transparent)" },
  ".line-selected": { backgroundColor: "color-mix(in srgb, var(--hit) 16%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line-strong)" },
  ".cost-tip": { whiteSpace: "pre", padding: "6px 8px" },
  ".cm-panels": { backgroundColor: "var(--card)", color: "var(--text)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--hit) 45%, transparent)" },
});

export const darkHighlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--save)" },
  { tag: [tags.comment, tags.docComment], color: "var(--good)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--info)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--warn)" },
  { tag: [tags.className, tags.typeName, tags.definition(tags.typeName)], color: "var(--write)" },
  { tag: [tags.operator, tags.punctuation, tags.bracket], color: "var(--dim)" },
  { tag: [tags.variableName, tags.propertyName], color: "var(--text)" },
]);
