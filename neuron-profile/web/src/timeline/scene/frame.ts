// What a frame is made from: everything that decides what is seen, and nothing else.

import type { Packed, Shade } from "../colour";
import type { Window } from "../geometry";
import type { Layout, Visible } from "../layout";
import type { Stacked } from "../overlap";
import type { Piece } from "../tile-cache";
import type { Warning } from "../warnings";
import type { Fault, LaneTile, LayerTile, MatchTile, SeriesTile } from "../tile-data";

/** Colours of the theme, from CSS variables. */
export interface Theme {
  readonly shade: Shade;
  readonly background: Packed;
  readonly rowAlternate: Packed;
  readonly grid: Packed;
  readonly rowLine: Packed;
  readonly label: string;
  readonly axis: string;
  readonly selection: Packed;
  readonly predecessor: Packed;
  readonly successor: Packed;
  readonly hit: Packed;
  readonly focus: Packed;
  readonly font: string;
}

/** Another end of a dependence of the focused event, as far as it is drawn. */
export interface Mark {
  readonly lane: number;
  readonly start: number;
  readonly end: number;
  readonly role: "focus" | "predecessor" | "successor";
}

export interface Band {
  readonly from: number;
  readonly to: number;
  readonly colour: Packed;
}

export interface Frame {
  readonly window: Window;
  readonly total: number;
  /** Device pixels of the plot. */
  readonly width: number;
  readonly height: number;
  /** Device pixels in a CSS pixel. */
  readonly scale: number;
  readonly layout: Layout;
  readonly rows: readonly Visible[];
  readonly theme: Theme;
  readonly showLabels: boolean;
  /** CSS pixels of labels. */
  readonly fontSize: number;
  /** Pieces of the set that a lane is of, from left to right. */
  pieces(lane: number): readonly Piece<LaneTile>[];
  /** The events of a lane, where all that is seen of it is there one by one. */
  stacked(lane: number): Stacked | null;
  seriesPieces(id: string): readonly Piece<SeriesTile>[];
  matchPieces(): readonly Piece<MatchTile>[];
  layerPieces(): readonly Piece<LayerTile>[];
  readonly faults: readonly Fault[];
  /** Bands that warn; none where they are not wanted. */
  readonly warnings: readonly Warning[];
  /** The colour of a kind of events in a lane. */
  colour(kind: number, lane: number): Packed;
  name(kind: number): string;
  readonly bands: readonly Band[];
  readonly marks: readonly Mark[];
  readonly arrows: boolean;
}

/** Free space above and below the bars of a row, CSS pixels. */
export function padding(rowHeight: number): number {
  return Math.max(1, Math.min(5, Math.round(rowHeight * 0.18)));
}

/** Top and bottom of what is drawn in a row, whole device pixels. */
export function inside(row: Visible, scale: number): { top: number; bottom: number } {
  const pad = padding(row.row.height);
  const top = Math.round((row.top + pad) * scale);
  return { top, bottom: Math.max(top + 1, Math.round((row.top + row.row.height - pad) * scale)) };
}

/** The clips of pinned and of scrolled rows. */
export function clips(frame: Frame): { pinned: { x: number; y: number; width: number; height: number }; free: { x: number; y: number; width: number; height: number } } {
  const edge = Math.min(Math.round(frame.layout.pinnedHeight * frame.scale), frame.height);
  return {
    pinned: { x: 0, y: 0, width: frame.width, height: edge },
    free: { x: 0, y: edge, width: frame.width, height: frame.height - edge },
  };
}
