// The catalogue, to choose a widget from.

import { useState } from "react";
import { TextField } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { WIDGETS } from "./catalogue";
import { show, useWorkspace } from "./workspace";

export function AddWidget({ onClose }: { onClose: () => void }) {
  const [filter, setFilter] = useState("");
  const api = useWorkspace((s) => s.api);
  const word = filter.toLowerCase();
  const found = WIDGETS.filter((one) => `${one.title} ${one.about} ${one.group}`.toLowerCase().includes(word));
  const choose = (id: string) => {
    onClose();
    show(id);
  };
  return (
    <Dialog title="Add a widget" onClose={onClose} wide>
      <TextField label="Find a widget" search wide value={filter} onChange={setFilter} onEnter={() => found[0] && choose(found[0].id)} />
      <div className="tiles">
        {found.map((one) => (
          <button key={one.id} type="button" className="tile" onClick={() => choose(one.id)}>
            <span className="tile-title">
              {one.title}
              {api?.getPanel(one.id) && <span className="tag">shown</span>}
            </span>
            <span className="dim">{one.about}</span>
            <span className="tag group">{one.group}</span>
          </button>
        ))}
        {found.length === 0 && <p className="dim">No widget is called that.</p>}
      </div>
    </Dialog>
  );
}
