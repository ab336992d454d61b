// Device Timeline: the minimap, the timeline, and what a ctrl-click in it means.

import { useEffect, useState } from "react";
import { getEvent } from "../api/profiles";
import { locations } from "../api/sources";
import { Dialog } from "../parts/dialog";
import { reason } from "../api/client";
import { openLine } from "../state/code";
import { toast } from "../state/goto";
import { useProfile } from "../state/profile";
import type { EventRef } from "../state/view";
import { Minimap, SOURCE_EVENT, Timeline } from "../timeline";

interface Place {
  file: string;
  line: number;
}

/** Opens the source of an event; asks where it has several. */
async function source(event: EventRef, choose: (places: Place[]) => void): Promise<void> {
  const { id } = useProfile.getState();
  try {
    const { fields } = await getEvent(id ?? "", event.table, event.row);
    const found = [...locations(fields.nki_source_location), ...locations(fields.bir_debug_info_source_location)];
    const places = found.filter((one, i) => found.findIndex((other) => other.file === one.file && other.line === one.line) === i);
    const [only, ...others] = places;
    if (!only) toast(`${event.name} names no source line`);
    else if (others.length === 0) openLine(only.file, only.line);
    else choose(places);
  } catch (error) {
    toast(reason(error), true);
  }
}

export default function DeviceTimeline() {
  const [places, setPlaces] = useState<Place[]>([]);
  useEffect(() => {
    const heard = (event: Event) => void source((event as CustomEvent<EventRef>).detail, setPlaces);
    document.addEventListener(SOURCE_EVENT, heard);
    return () => document.removeEventListener(SOURCE_EVENT, heard);
  }, []);
  return (
    <>
      <Minimap />
      <div className="timeline-holder">
        <Timeline />
      </div>
      {places.length > 0 && (
        <Dialog title="Which line?" onClose={() => setPlaces([])}>
          {places.map(({ file, line }) => (
            <button
              key={`${file}:${line}`}
              type="button"
              className="menu-item mono"
              onClick={() => {
                setPlaces([]);
                openLine(file, line);
              }}
            >
              {file}:{line}
            </button>
          ))}
        </Dialog>
      )}
    </>
  );
}
