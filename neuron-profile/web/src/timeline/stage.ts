// The timeline of one profile: reads the stores, keeps the data coming, and draws a frame whenever something that is
// seen has changed, never otherwise.

import { reason } from "../api/client";
import type { Fields, Lane } from "../api/types";
import { useAnnotations } from "../state/annotations";
import { useSearch } from "../state/search";
import { useSettings } from "../state/settings";
import { type EventRef, useView } from "../state/view";
import { Canvases, type Wanted } from "./canvases";
import { colourOf, css, pack, parse } from "./colour";
import { TimelineData } from "./data";
import { DisplayList } from "./display-list";
import { Events, described, focusMark } from "./focus";
import { type Limits, type Window } from "./geometry";
import { Gestures } from "./gestures";
import { type Hit, hit, hitWarning } from "./hit";
import { Kinds } from "./kinds";
import { clampScroll, place, scrollTo, visible } from "./layout";
import { legendOf } from "./legend";
import { type Series, shownRows } from "./rows";
import { axisList } from "./scene/axis";
import type { Frame, Mark, Theme } from "./scene/frame";
import { drawPlot } from "./scene/plot";
import { Scheme } from "./scheme";
import { FrameTimes } from "./frame-times";
import { readTheme } from "./theme";
import { type Tick, ticks } from "./ticks";
import { createUi } from "./ui";

export interface Subject {
  readonly id: string;
  readonly lanes: readonly Lane[];
  readonly names: readonly string[];
  readonly series: readonly Series[];
  readonly total: number;
}

/** Milliseconds that the pointer rests before the fields of an event are fetched. */
const REST = 60;

/** Milliseconds from a frame to the sums of the legend. */
const LEGEND = 120;

export class Stage {
  readonly ui = createUi();
  readonly gestures = new Gestures();
  readonly events: Events;
  readonly times = new FrameTimes();
  readonly data: TimelineData;
  readonly kinds: Kinds;
  frame: Frame | null = null;
  list = new DisplayList();
  axis = new DisplayList(128);
  ticks: readonly Tick[] = [];
  /** Where the pointer is, CSS pixels of the plot. */
  pointer: { x: number; y: number } | null = null;
  scheme: Scheme;
  theme: Theme;
  private readonly canvases: Canvases;
  private readonly stops: (() => void)[] = [];
  private readonly watchers = new Set<(frame: Frame) => void>();
  private marks: readonly Mark[] = [];
  private levels: readonly { core: number; depth: number }[] = [];
  private scheduled = 0;
  private dirty = true;
  private look = true;
  private legendTimer: ReturnType<typeof setTimeout> | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly subject: Subject,
    private readonly root: HTMLElement,
    plot: HTMLElement,
    axis: HTMLElement,
    wanted: Wanted,
  ) {
    const redraw = () => this.redraw();
    this.events = new Events(subject.id, subject.lanes);
    this.data = new TimelineData({
      id: subject.id,
      lanes: subject.lanes,
      total: subject.total,
      changed: () => {
        this.ui.setState({ trouble: null });
        // How many levels of layers there are is known when the first tile of them is there.
        if (this.data.layerRows().length !== this.levels.length) this.arrange();
        redraw();
      },
      failed: (error) => this.ui.setState({ trouble: reason(error) }),
    });
    this.kinds = new Kinds(subject.id, subject.names, redraw);
    this.canvases = new Canvases(plot, axis, wanted, redraw);
    this.theme = this.themeNow();
    this.scheme = this.schemeNow();
    this.arrange();
    void this.kinds.load();
    void this.data.loadFaults().then((any) => any && this.restyle());
    const themes = new MutationObserver(() => this.restyle());
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
    this.stops.push(
      () => themes.disconnect(),
      useView.subscribe((now, before) => {
        if (now.focused !== before.focused) void this.followFocus(now.focused);
        if (now.hovered !== before.hovered && now.from === before.from && now.to === before.to) return;
        redraw();
      }),
      useSettings.subscribe(() => this.restyle()),
      useAnnotations.subscribe(redraw),
      useSearch.subscribe((now) => {
        this.data.setSearch(now);
        redraw();
      }),
    );
    this.data.setSearch(useSearch.getState());
    void this.followFocus(useView.getState().focused);
  }

  private themeNow(): Theme {
    const style = getComputedStyle(this.root);
    return readTheme((name) => style.getPropertyValue(name));
  }

  private schemeNow(): Scheme {
    const { colourBy, dmaColourBy, schemes, scheme, layerDepth } = useSettings.getState();
    const rules = schemes.find((one) => one.name === scheme)?.rules ?? [];
    const settings = { colourBy, dmaColourBy, rules, layerDepth };
    return new Scheme(settings, this.kinds, this.subject.lanes, this.theme.shade, this.theme.background);
  }

  private restyle(): void {
    this.theme = this.themeNow();
    this.scheme = this.schemeNow();
    this.arrange();
    this.redraw();
  }

  /** Rows anew, as settings say. */
  private arrange(): void {
    const settings = useSettings.getState();
    this.levels = this.data.layerRows();
    const extras = { layers: this.levels, errors: settings.showErrors && this.data.faults.some((one) => !one.loss) };
    const rows = shownRows(this.subject.lanes, this.subject.series, settings, extras);
    const layout = place(rows);
    const { height, scroll } = this.ui.getState();
    this.data.setSeries(rows.flatMap((row) => row.series.map((one) => one.id)));
    this.ui.setState({ rows, layout, scroll: clampScroll(layout, height, scroll) });
  }

  get limits(): Limits {
    const { total, minSpan } = useView.getState();
    return { total, minSpan };
  }

  get window(): Window {
    const { from, to } = useView.getState();
    return { from, to };
  }

  resize(width: number, height: number): void {
    const { layout, scroll } = this.ui.getState();
    this.canvases.resize(width, height, window.devicePixelRatio || 1);
    this.ui.setState({ width, height, scroll: clampScroll(layout, height, scroll) });
    this.redraw();
  }

  scrollBy(pixels: number): void {
    this.scrollAt(this.ui.getState().scroll + pixels);
  }

  scrollAt(wanted: number): void {
    const { layout, height, scroll } = this.ui.getState();
    const next = clampScroll(layout, height, wanted);
    if (next === scroll) return;
    this.ui.setState({ scroll: next });
    this.redraw();
  }

  /** Scrolls so that the row of a lane is seen. */
  showLane(lane: number): void {
    const { layout, height, scroll, rows } = this.ui.getState();
    const row = rows.find((one) => one.lanes.includes(lane));
    if (row) this.scrollAt(scrollTo(layout, height, scroll, row.key));
  }

  /** A frame is drawn soon. */
  redraw(): void {
    this.dirty = true;
    this.schedule();
  }

  point(at: { x: number; y: number } | null): void {
    this.pointer = at;
    this.look = true;
    this.schedule();
  }

  /** Calls `watcher` after each frame, for what stands above the canvases. */
  watch(watcher: (frame: Frame) => void): () => void {
    this.watchers.add(watcher);
    if (this.frame) watcher(this.frame);
    return () => this.watchers.delete(watcher);
  }

  private schedule(): void {
    if (this.scheduled === 0) this.scheduled = requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    this.scheduled = 0;
    const begun = performance.now();
    const drawn = this.dirty;
    if (this.dirty) this.draw();
    if (this.look) this.lookAt();
    this.times.add(now, performance.now() - begun, drawn, this.list.count);
  }

  private makeFrame(): Frame {
    const { layout, scroll, height } = this.ui.getState();
    const settings = useSettings.getState();
    const { data, scheme, kinds, canvases } = this;
    const annotations = useAnnotations.getState();
    const bands = annotations.list.filter((one) => one.to > one.from);
    return {
      window: this.window,
      total: this.subject.total,
      width: canvases.width,
      height: canvases.height,
      scale: canvases.scale,
      layout,
      rows: visible(layout, height, scroll),
      theme: this.theme,
      showLabels: settings.showLabels,
      fontSize: Math.max(settings.fontSize - 2, 8),
      pieces: (lane) => data.pieces(lane),
      stacked: (lane) => data.stacked(lane),
      seriesPieces: (id) => data.piecesOfSeries(id),
      matchPieces: () => data.piecesOfMatches(),
      layerPieces: () => data.piecesOfLayers(),
      faults: data.faults,
      warnings: settings.showWarnings ? data.warnings : [],
      colour: (kind, lane) => scheme.colour(kind, lane),
      name: (kind) => kinds.name(kind),
      bands: bands.map((one) => ({ from: one.from, to: one.to, colour: pack(parse(one.colour)) })),
      marks: this.marks,
      arrows: settings.showDependencies,
    };
  }

  private draw(): void {
    const { width, scale } = this.canvases;
    if (width <= 1 || this.ui.getState().width === 0) return;
    this.dirty = false;
    const frame = this.makeFrame();
    const lanes = frame.rows.flatMap((row) => row.row.lanes);
    const series = frame.rows.flatMap((row) => row.row.series.map((one) => one.id));
    this.data.see(frame.window, width, lanes, series, useSettings.getState().layerRows);
    this.ticks = ticks(frame.window, width / scale, useSettings.getState().timeUnit);
    drawPlot(this.list, frame, this.ticks);
    axisList(frame.window, this.ticks, width, scale, this.theme.axis, this.axis);
    this.canvases.draw(this.list, this.axis, this.theme.background, css(this.theme.background));
    this.frame = frame;
    this.look = true;
    if (this.times.firstPaint === null && lanes.some((lane) => this.data.pieces(lane).length > 0)) {
      this.times.firstPaint = performance.now();
    }
    const { settled, legend, entries } = this.ui.getState();
    if (settled !== this.data.settled) this.ui.setState({ settled: this.data.settled });
    if (legend) this.legendTimer ??= setTimeout(() => this.sumLegend(), LEGEND);
    else if (entries.length > 0) this.ui.setState({ entries: [] });
    for (const watcher of this.watchers) watcher(frame);
  }

  /** Sums are for the eye: a few times a second, not with each frame of a pan. */
  private sumLegend(): void {
    this.legendTimer = undefined;
    if (this.frame) this.ui.setState({ entries: legendOf(this.frame, this.scheme) });
  }

  /** What is under the pointer now. */
  private lookAt(): void {
    this.look = false;
    const { frame, pointer } = this;
    const before = this.ui.getState().hover;
    if (!frame || !pointer || this.gestures.dragging) {
      if (before) this.hovered(null, null);
      return;
    }
    const thing = hit(frame, pointer.x, pointer.y);
    // Where nothing else is, a band behind it speaks.
    const found = thing && thing.what !== "row" ? thing : (hitWarning(frame, pointer.x) ?? thing);
    if (!found || found.what === "row") {
      if (before) this.hovered(null, null);
      return;
    }
    this.hovered(found, pointer);
  }

  private hovered(found: Hit | null, at: { x: number; y: number } | null): void {
    const before = this.ui.getState().hover;
    if (!found || !at) {
      clearTimeout(this.rest);
      this.ui.setState({ hover: null });
      useView.getState().hover(null);
      return;
    }
    const isEvent = found.what === "event";
    const same = isEvent && before?.hit.what === "event" && before.hit.place === found.place && before.hit.lane === found.lane;
    const colour =
      found.what === "event" || found.what === "column"
        ? this.scheme.entry(found.kind, found.lane).colour
        : found.what === "layer"
          ? colourOf(found.bar.path, this.theme.shade)
          : null;
    this.ui.setState({ hover: { hit: found, x: at.x, y: at.y, colour, fields: same ? before.fields : null } });
    if (same) return;
    clearTimeout(this.rest);
    const ref = isEvent ? this.refOf(found.lane, found.place, found.start, found.end, found.kind) : null;
    useView.getState().hover(ref);
    if (ref) this.rest = setTimeout(() => void this.fetchFields(ref), REST);
  }

  private refOf(lane: number, row: number, start: number, end: number, kind: number): EventRef | null {
    const of = this.events.lane(lane);
    return of ? { table: of.table, row, lane, start, end, name: this.kinds.name(kind) } : null;
  }

  private async fetchFields(event: EventRef): Promise<void> {
    const detail = await this.events.detail(event.table, event.row).catch(() => null);
    const { hover } = this.ui.getState();
    if (!detail || hover?.hit.what !== "event" || hover.hit.place !== event.row || hover.hit.lane !== event.lane) return;
    const fields: Fields = detail.fields;
    this.ui.setState({ hover: { ...hover, fields } });
  }

  private async followFocus(event: EventRef | null): Promise<void> {
    this.marks = event ? [focusMark(event)] : [];
    this.redraw();
    if (!event) {
      this.ui.setState({ said: "" });
      return;
    }
    const lane = this.events.lane(event.lane);
    const say = () => this.ui.setState({ said: described(event, lane ? `${lane.name}, core ${lane.core}` : event.table, this.marks) });
    say();
    this.showLane(event.lane);
    const marks = await this.events.marks(event).catch(() => null);
    if (!marks || useView.getState().focused !== event) return;
    this.marks = marks;
    say();
    this.redraw();
  }

  /** Shows a range, for tests and measurements. */
  readonly show = (from: number, to: number): void => useView.getState().zoomTo(from, to, { record: true });

  get device(): string {
    return `${this.canvases.renderer?.kind ?? "none"}: ${this.canvases.renderer?.device ?? ""}`;
  }

  loseContext(): { restore(): void } | null {
    return this.canvases.loseContext();
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    cancelAnimationFrame(this.scheduled);
    clearTimeout(this.rest);
    clearTimeout(this.legendTimer);
    this.data.dispose();
    this.kinds.dispose();
    this.canvases.dispose();
  }
}
