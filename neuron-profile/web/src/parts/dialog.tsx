// Dialogs: the browser's own, which keeps the focus inside and closes by Esc.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button, IconButton, TextField } from "./controls";

export function Dialog(props: { title: string; onClose: () => void; children: ReactNode; wide?: boolean }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      className={props.wide ? "dialog wide" : "dialog"}
      aria-label={props.title}
      onClose={props.onClose}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h2>{props.title}</h2>
        <IconButton icon="close" label="Close" onClick={props.onClose} />
      </header>
      <div className="dialog-body">{props.children}</div>
    </dialog>
  );
}

/** Asks before something that cannot be undone. */
export function Confirm(props: { title: string; text: ReactNode; action: string; onDone: () => void; onClose: () => void }) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>{props.text}</p>
      <div className="dialog-foot">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button
          danger
          onClick={() => {
            props.onDone();
            props.onClose();
          }}
        >
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}

/** Asks for a name. */
export function AskName(props: {
  title: string;
  label: string;
  initial?: string;
  action: string;
  maxLength?: number;
  onDone: (name: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(props.initial ?? "");
  const done = () => {
    if (name.trim() === "") return;
    props.onDone(name.trim());
    props.onClose();
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <TextField label={props.label} value={name} onChange={setName} onEnter={done} wide maxLength={props.maxLength ?? 100} />
      <div className="dialog-foot">
        <Button onClick={props.onClose}>Cancel</Button>
        <Button primary onClick={done} disabled={name.trim() === ""}>
          {props.action}
        </Button>
      </div>
    </Dialog>
  );
}
