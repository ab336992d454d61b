// The plot as a display list: backdrop, rows, marks; scrolled rows first, pinned ones over them.

import type { DisplayList } from "../display-list";
import type { Tick } from "../ticks";
import { drawBackdrop } from "./backdrop";
import { type Frame, clips } from "./frame";
import { drawLaneRow } from "./lanes";
import { drawFaults, drawLayerRow } from "./layers";
import { drawArrows, drawMarks, drawMatches } from "./marks";
import { drawSeriesRow } from "./series";

export function drawPlot(list: DisplayList, frame: Frame, ticks: readonly Tick[]): DisplayList {
  list.clear();
  const { free, pinned } = clips(frame);
  for (const [clip, held] of [[free, false], [pinned, true]] as const) {
    if (clip.height <= 0) continue;
    list.section(clip);
    drawBackdrop(list, frame, ticks, clip, held);
    for (const row of frame.rows) {
      if (row.pinned !== held) continue;
      if (row.row.kind === "series") drawSeriesRow(list, frame, row);
      else if (row.row.kind === "layers") drawLayerRow(list, frame, row);
      else if (row.row.kind === "errors") drawFaults(list, frame, row);
      else drawLaneRow(list, frame, row);
    }
    drawMatches(list, frame, held);
    drawMarks(list, frame, held);
    if (held) list.rect(0, clip.height - Math.max(1, Math.round(frame.scale)), clip.width, clip.height, frame.theme.selection);
  }
  drawArrows(list, frame);
  // Labels of rows that are scrolled behind the pinned ones must not be seen.
  const edge = free.y;
  if (edge > 0) {
    const hidden = list.texts.filter((text) => {
      const row = frame.rows.find((one) => !one.pinned && one.top * frame.scale <= text.y && text.y < (one.top + one.row.height) * frame.scale);
      return row && text.y < edge && !frame.rows.some((one) => one.pinned && text.y >= one.top * frame.scale && text.y < (one.top + one.row.height) * frame.scale);
    });
    if (hidden.length > 0) {
      const gone = new Set(hidden);
      const kept = list.texts.filter((text) => !gone.has(text));
      list.texts.length = 0;
      list.texts.push(...kept);
    }
  }
  return list;
}
