// Menus under a button: choices that are ticked, and commands. Esc and a click
// elsewhere close them; arrows walk them.

import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Icon, type IconName } from "./icons";

interface PopProps {
  label: string;
  icon?: IconName;
  /** Shown on the button; else only its icon. */
  text?: string;
  children: (close: () => void) => ReactNode;
  end?: boolean;
}

/** A button with a box under it. */
export function Pop({ label, icon, text, children, end }: PopProps) {
  const [open, setOpen] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => {
      if (event.target instanceof Node && !holder.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away, true);
    holder.current?.querySelector<HTMLElement>(".menu input, .menu button, .menu select")?.focus();
    return () => document.removeEventListener("pointerdown", away, true);
  }, [open]);
  const keys = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      setOpen(false);
      holder.current?.querySelector<HTMLElement>("button")?.focus();
      return;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || event.target instanceof HTMLSelectElement) return;
    const items = [...(holder.current?.querySelectorAll<HTMLElement>(".menu button:not(:disabled), .menu input") ?? [])];
    const now = items.indexOf(document.activeElement as HTMLElement);
    items[(now + step + items.length) % items.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="pop" ref={holder} onKeyDown={keys}>
      <button
        type="button"
        className={text ? "button" : "icon-button"}
        aria-label={text && text !== label ? `${label}: ${text}` : label}
        title={label}
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {icon && <Icon name={icon} />}
        {text}
        {text && <Icon name="chevron" size={12} />}
      </button>
      {open && <div className={end === false ? "menu" : "menu end"}>{children(() => setOpen(false))}</div>}
    </div>
  );
}

export interface Choice {
  id: string;
  text: string;
}

/** A menu of boxes to tick. */
export function Choices(props: {
  label: string;
  icon?: IconName;
  text?: string;
  options: readonly Choice[];
  chosen: (id: string) => boolean;
  onToggle: (id: string, on: boolean) => void;
}) {
  return (
    <Pop label={props.label} {...(props.icon && { icon: props.icon })} {...(props.text && { text: props.text })}>
      {() => (
        <div className="menu-scroll">
          {props.options.map(({ id, text }) => (
            <label key={id} className="check">
              <input type="checkbox" checked={props.chosen(id)} onChange={(event) => props.onToggle(id, event.target.checked)} />
              <span>{text}</span>
            </label>
          ))}
        </div>
      )}
    </Pop>
  );
}

/** A line of a menu. */
export function MenuItem(props: { children: ReactNode; onClick: () => void; disabled?: boolean; title?: string }) {
  return (
    <button type="button" className="menu-item" onClick={props.onClick} disabled={props.disabled} title={props.title}>
      {props.children}
    </button>
  );
}
