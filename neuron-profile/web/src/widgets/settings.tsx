// Settings: what the timeline shows and how, the theme, and colour schemes of
// the user.

import { useState } from "react";
import { Button, Check, IconButton, Select, TextField } from "../parts/controls";
import { useProfile } from "../state/profile";
import { type ColourBy, type ColourRule, type Scheme, type Settings, type Theme, useSettings } from "../state/settings";
import { useResting } from "../state/resting";
import { useView } from "../state/view";

const SWITCHES: { key: keyof Settings & string; text: string }[] = [
  { key: "expandedDma", text: "Packets of DMA engines (off: transfers of queues)" },
  { key: "layerRows", text: "Instructions grouped by layer" },
  { key: "showLabels", text: "Labels of events" },
  { key: "showHoverBox", text: "Hover box" },
  { key: "showDependencies", text: "Dependencies of the focused event" },
  { key: "showErrors", text: "Errors" },
  { key: "showWarnings", text: "Warning bands" },
  { key: "crosshair", text: "Crosshair" },
  { key: "snap", text: "Annotations snap to edges of events" },
];

function Rules({ scheme, onChange }: { scheme: Scheme; onChange: (rules: ColourRule[]) => void }) {
  const put = (at: number, rule: ColourRule | null) => onChange(scheme.rules.flatMap((one, i) => (i === at ? (rule ? [rule] : []) : [one])));
  return (
    <>
      {scheme.rules.map((rule, i) => (
        <div className="condition" key={i}>
          <input type="color" className="swatch" aria-label={`Colour of rule ${i + 1}`} value={rule.colour} onChange={(event) => put(i, { ...rule, colour: event.target.value })} />
          <TextField label={`Names of rule ${i + 1}`} mono wide value={rule.text} placeholder="name has …" onChange={(text) => put(i, { ...rule, text })} />
          <Check label="regular expression" checked={rule.regex} onChange={(regex) => put(i, { ...rule, regex })} />
          <IconButton icon="close" label={`Remove rule ${i + 1}`} onClick={() => put(i, null)} />
        </div>
      ))}
      <Button icon="plus" onClick={() => onChange([...scheme.rules, { text: "", regex: false, colour: "#e0a050" }])}>
        Rule
      </Button>
    </>
  );
}

function Schemes() {
  const { schemes, scheme, set } = useSettings();
  const current = schemes.find((one) => one.name === scheme);
  const replace = (next: Scheme) => set({ schemes: schemes.map((one) => (one.name === scheme ? next : one)) });
  const add = () => {
    let number = schemes.length + 1;
    while (schemes.some((one) => one.name === `Scheme ${number}`)) number++;
    const made = { name: `Scheme ${number}`, rules: [{ text: "", regex: false, colour: "#e0a050" }] };
    set({ schemes: [...schemes, made], scheme: made.name, colourBy: "rules" });
  };
  return (
    <section className="card">
      <h3>Colour schemes of your own</h3>
      <div className="toolbar">
        {schemes.length > 0 && <Select label="Scheme" value={scheme} options={schemes.map((one) => one.name)} onChange={(name) => set({ scheme: name, colourBy: "rules" })} />}
        <Button icon="plus" onClick={add}>
          Scheme
        </Button>
        {current && (
          <Button icon="trash" onClick={() => set({ schemes: schemes.filter((one) => one !== current), scheme: schemes.find((one) => one !== current)?.name ?? "" })}>
            Delete
          </Button>
        )}
      </div>
      {current && <Rules scheme={current} onChange={(rules) => replace({ ...current, rules })} />}
    </section>
  );
}

/** Zoom by two times, or to between the first two marks. */
function ZoomTo() {
  const { from, to } = useResting();
  const { zoomTo } = useView.getState();
  const [texts, setTexts] = useState<[string, string]>(["", ""]);
  const [start, end] = [Number(texts[0] || from), Number(texts[1] || to)];
  return (
    <div className="toolbar range">
      <span className="dim">From and to, ns</span>
      <TextField label="From, ns" mono value={texts[0]} placeholder={String(Math.round(from))} onChange={(text) => setTexts([text, texts[1]])} />
      <TextField label="To, ns" mono value={texts[1]} placeholder={String(Math.round(to))} onChange={(text) => setTexts([texts[0], text])} />
      <Button icon="zoom" disabled={!(end > start)} onClick={() => zoomTo(start, end, { record: true })}>
        Zoom
      </Button>
    </div>
  );
}

export default function SettingsWidget() {
  const settings = useSettings();
  const series = useProfile((s) => s.series);
  const { set } = settings;
  const semaphores = series.filter((one) => one.group === "semaphore");
  const groups = [...new Set(series.filter((one) => one.group !== "semaphore").map((one) => one.group))];
  const shown = settings.shownSeries;
  const toggle = (ids: readonly string[], on: boolean) => {
    const now = shown ?? series.filter((one) => one.group !== "semaphore").map((one) => one.id);
    set({ shownSeries: on ? [...new Set([...now, ...ids])] : now.filter((id) => !ids.includes(id)) });
  };
  return (
    <div className="settings">
      <section className="card">
        <h3>Page</h3>
        <Select<Theme> label="Theme" shown value={settings.theme} options={[{ value: "auto", text: "as the system" }, "dark", "light"]} onChange={(theme) => set({ theme })} />
        <Select label="Size of text" shown value={String(settings.fontSize)} options={["11", "12", "13", "14", "16"]} onChange={(size) => set({ fontSize: Number(size) })} />
        <Select label="Times in" shown value={settings.timeUnit} options={["auto", "ns", "us", "ms", "s"]} onChange={(timeUnit) => set({ timeUnit })} />
        <Select
          label="Bars of tabs"
          shown
          value={settings.tabBars}
          options={[
            { value: "always", text: "always" },
            { value: "several", text: "where there are several tabs" },
            { value: "never", text: "never (in focus mode too)" },
          ]}
          onChange={(tabBars) => set({ tabBars })}
        />
      </section>
      <section className="card">
        <h3>Timeline</h3>
        <Select<ColourBy>
          label="Instructions coloured by"
          shown
          value={settings.colourBy}
          options={[
            { value: "name", text: "name" },
            { value: "operator", text: "operator" },
            { value: "layer", text: "layer" },
            { value: "engine", text: "engine" },
            { value: "opcode", text: "opcode" },
            { value: "rules", text: "scheme of your own" },
          ]}
          onChange={(colourBy) => set({ colourBy })}
        />
        <Select label="DMA coloured by" shown value={settings.dmaColourBy} options={["variable", "queue", "engine"]} onChange={(dmaColourBy) => set({ dmaColourBy })} />
        <Select label="Depth of layers" shown value={String(settings.layerDepth)} options={[{ value: "0", text: "whole path" }, "1", "2", "3", "4", "5", "6"]} onChange={(depth) => set({ layerDepth: Number(depth) })} />
        <Select label="Rows grouped by" shown value={settings.groupBy} options={["kind", "core", "none"]} onChange={(groupBy) => set({ groupBy })} />
        {SWITCHES.map(({ key, text }) => (
          <Check key={key} label={text} checked={settings[key] === true} onChange={(on) => set({ [key]: on })} />
        ))}
        <ZoomTo />
      </section>
      <section className="card">
        <h3>Lines</h3>
        {groups.map((group) => {
          const ids = series.filter((one) => one.group === group).map((one) => one.id);
          return <Check key={group} label={group.replaceAll("_", " ")} checked={shown === null || ids.some((id) => shown.includes(id))} onChange={(on) => toggle(ids, on)} />;
        })}
        {groups.length === 0 && <p className="dim">This profile has no lines.</p>}
        {semaphores.length > 0 && <h4>Semaphores</h4>}
        <div className="columns">
          {semaphores.slice(0, 256).map((one) => (
            <Check key={one.id} label={/^\d/.test(one.name) ? `S[${one.name.replace(" (", "] (")}` : one.name} checked={settings.semaphores.includes(one.id)} onChange={(on) => set({ semaphores: on ? [...settings.semaphores, one.id] : settings.semaphores.filter((id) => id !== one.id) })} />
          ))}
        </div>
      </section>
      <Schemes />
      <Button onClick={() => settings.reset()}>All settings as they were</Button>
    </div>
  );
}
