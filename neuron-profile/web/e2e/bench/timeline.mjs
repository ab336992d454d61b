// Measures the timeline in a browser without a graphics card and prints one object of JSON.
//
//   node e2e/bench/timeline.mjs --url http://localhost:3001 --profile n_... [--seconds 4] [--renderer webgl|raster]
//                               [--chromium /usr/bin/chromium] [--dma unfolded]
//
// 1600 x 900, all rows. The page is driven by events that are dispatched in it, one step for each frame that the
// browser gives, so that what is counted is what the page can do and not what the driver can send.

import { readFile } from "node:fs/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const options = Object.fromEntries(
  process.argv.slice(2).flatMap((part, at, all) => (part.startsWith("--") ? [[part.slice(2), all[at + 1]]] : [])),
);
const { url, profile } = options;
if (!url || !profile) {
  process.stderr.write("give --url and --profile\n");
  process.exit(2);
}
const seconds = Number(options.seconds ?? 4);

/** The value below which `share` of all lie. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)];
}
const round = (value) => (value === null ? null : Math.round(value * 100) / 100);

/** Runs in the page: steps for so long, one for each frame; what the frames were like. */
function drive({ kind, milliseconds }) {
  const root = document.querySelector(".tl");
  const plot = document.querySelector(".tl-plot");
  const stage = root.timeline;
  const box = plot.getBoundingClientRect();
  let step = 0;
  const wheel = (more) =>
    plot.dispatchEvent(
      new WheelEvent("wheel", {
        bubbles: true,
        cancelable: true,
        clientX: box.left + box.width * 0.4,
        clientY: box.top + 40,
        ...more,
      }),
    );
  const steps = {
    // To and fro, by less than there is to the ends of the profile: every step moves.
    pan: () => wheel({ shiftKey: true, deltaY: Math.floor(step / 22) % 2 === 0 ? 25 : -25 }),
    zoom: () => wheel({ deltaY: Math.floor(step / 45) % 2 === 0 ? -40 : 40 }),
    scroll: () => wheel({ altKey: true, deltaY: Math.floor(step / 30) % 2 === 0 ? 30 : -30 }),
  };
  stage.times.clear();
  return new Promise((done) => {
    const begun = performance.now();
    const next = (now) => {
      if (now - begun >= milliseconds) {
        const drawn = stage.times.all.filter((one) => one.drawn && one.at > begun + 200);
        const gaps = drawn.slice(1).map((one, i) => one.at - drawn[i].at);
        done({ gaps, took: drawn.map((one) => one.took), rects: drawn.map((one) => one.rects) });
        return;
      }
      steps[kind]();
      step += 1;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}

/** Runs in the page: moves the pointer, and tells how long until what is under it is known, and until it is shown. */
async function hover(count) {
  const plot = document.querySelector(".tl-plot");
  const stage = document.querySelector(".tl").timeline;
  const box = plot.getBoundingClientRect();
  const known = [];
  let frames = 0;
  let found = 0;
  for (let i = 0; i < count; i += 1) {
    const x = box.left + ((i * 7919) % Math.floor(box.width - 20)) + 10;
    const y = box.top + ((i * 104729) % Math.floor(box.height - 20)) + 10;
    const begun = performance.now();
    plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: x, clientY: y }));
    // The stage asked for its frame first: when ours comes, its answer is there.
    await new Promise((done) => requestAnimationFrame(done));
    known.push(performance.now() - begun);
    const answer = stage.pointer?.x === x - box.left;
    frames += answer ? 1 : 2;
    if (stage.ui.getState().hover) found += 1;
  }
  return { known, frames: frames / count, found };
}

/** Waits until all that is seen is there; whether it came in time. */
function settled(page, limit = 60_000) {
  const there = () => document.querySelector(".tl")?.timeline?.ui.getState().settled;
  return page.waitForFunction(there, null, { timeout: limit }).then(
    () => true,
    () => false,
  );
}

/** Sizes of what is not an answer of the interface: as sent, and compressed. */
function weigh(page) {
  const bodies = [];
  page.on("response", (response) => {
    if (response.url().includes("/api/")) return;
    bodies.push(response.body().catch(() => Buffer.alloc(0)));
  });
  return async () => {
    const all = await Promise.all(bodies);
    const sum = (size) => all.reduce((total, body) => total + size(body), 0);
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
    return {
      bytes: sum((body) => body.length),
      gzip_bytes: sum((body) => gzipSync(body).length),
      brotli_bytes: sum((body) => brotliCompressSync(body, quality).length),
    };
  };
}

/** Processor time of the browser by kind of process, ms: what a frame costs however loaded the machine is. */
async function processor(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const sum = (type) => processInfo.filter((one) => one.type === type).reduce((all, one) => all + one.cpuTime * 1000, 0);
  return { renderer: sum("renderer"), gpu: sum("GPU"), browser: sum("browser") };
}

/** Memory of the processes that draw pages, by the kernel: shared pages by their part. */
async function memory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const sizes = await Promise.all(
    processInfo
      .filter((one) => one.type === "renderer")
      .map(async ({ id }) => {
        const text = await readFile(`/proc/${id}/smaps_rollup`, "utf8").catch(() => "");
        return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
      }),
  );
  return sizes.reduce((sum, one) => sum + one, 0);
}

const browser = await chromium.launch({
  executablePath: options.chromium ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 }, deviceScaleFactor: 1 });
  const trouble = [];
  page.on("pageerror", (error) => trouble.push(error.message));
  const weight = weigh(page);
  // All rows: DMA engines each in its own.
  await page.addInitScript((unfolded) => {
    const state = { expandedDma: unfolded };
    localStorage.setItem("neuron-profile.settings", JSON.stringify({ state, version: 1 }));
  }, options.dma !== "folded");
  const query = options.renderer ? `?renderer=${options.renderer}` : "";
  await page.goto(`${url}/profile/${profile}${query}`);
  await page.waitForFunction(() => document.querySelector(".tl")?.timeline?.times.firstPaint);
  // The timeline gets the whole window.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(".tl { position: fixed !important; inset: 0; z-index: 99999; height: auto !important }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
  await page.waitForFunction(() => document.querySelector(".tl-plot").clientHeight > 700);
  const whole = await settled(page);
  const first = await page.evaluate(() => {
    const stage = document.querySelector(".tl").timeline;
    const { rows, width, height } = stage.ui.getState();
    return { paint: stage.times.firstPaint, rows: rows.length, width, height, rects: stage.list.count, device: stage.device };
  });
  const runs = {};
  for (const kind of ["pan", "zoom", "scroll"]) {
    // Inside of the profile, where a pan moves and a zoom has both ways.
    await page.evaluate((kind) => {
      const stage = document.querySelector(".tl").timeline;
      const { total } = stage.subject;
      if (kind !== "scroll") stage.show(total * 0.2, total * 0.7);
    }, kind);
    await settled(page);
    const before = await processor(browser);
    const seen = await page.evaluate(drive, { kind, milliseconds: seconds * 1000 });
    const after = await processor(browser);
    // Frames of the first 200 ms are drawn, but not measured.
    const frames = Math.max(seen.gaps.length * (seconds / (seconds - 0.2)), 1);
    const spent = (part) => round((after[part] - before[part]) / frames);
    runs[kind] = {
      fps: round(1000 / (seen.gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(seen.gaps.length, 1))),
      frame_p95_ms: round(quantile(seen.gaps, 0.95)),
      script_p50_ms: round(quantile(seen.took, 0.5)),
      script_p95_ms: round(quantile(seen.took, 0.95)),
      rects_p50: quantile(seen.rects, 0.5),
      cpu_ms_per_frame: { renderer: spent("renderer"), gpu: spent("gpu"), browser: spent("browser") },
    };
  }
  await settled(page);
  const pointed = await page.evaluate(hover, 200);
  const { tiles, fetches } = await page.evaluate(() => {
    const { times, fetches } = document.querySelector(".tl").timeline.data;
    return { tiles: times, fetches };
  });
  const heap = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? null);
  process.stdout.write(
    `${JSON.stringify({
      profile,
      renderer: first.device,
      viewport: [1600, 900],
      plot: [first.width, first.height],
      rows: first.rows,
      rects: first.rects,
      first_paint_ms: round(first.paint),
      all_loaded: whole,
      ...runs,
      hover: {
        found: pointed.found,
        frames: pointed.frames,
        p50_ms: round(quantile(pointed.known, 0.5)),
        p95_ms: round(quantile(pointed.known, 0.95)),
      },
      tiles: { count: tiles.length, p50_ms: round(quantile(tiles, 0.5)), p95_ms: round(quantile(tiles, 0.95)) },
      fetches: { count: fetches.length, p50_ms: round(quantile(fetches, 0.5)), p95_ms: round(quantile(fetches, 0.95)) },
      memory: { renderer_bytes: await memory(browser), heap_bytes: heap },
      weight: await weight(),
      errors: trouble,
    })}\n`,
  );
} finally {
  await browser.close();
}
