// Buttons and fields that look alike everywhere. Each has a name for screen
// readers; a tip is its `title`.

import type { ReactNode } from "react";
import { useId } from "react";
import { Icon, type IconName } from "./icons";

interface ButtonProps {
  children: ReactNode;
  onClick: () => void;
  primary?: boolean;
  danger?: boolean;
  disabled?: boolean;
  title?: string;
  icon?: IconName;
  pressed?: boolean;
}

export function Button({ children, onClick, primary, danger, disabled, title, icon, pressed }: ButtonProps) {
  const kind = primary ? "button primary" : danger ? "button danger" : "button";
  return (
    <button type="button" className={kind} onClick={onClick} disabled={disabled} title={title} aria-pressed={pressed}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
}

export function IconButton({ icon, label, onClick, disabled, pressed }: IconButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={onClick}
      disabled={disabled}
      aria-pressed={pressed}
    >
      <Icon name={icon} />
    </button>
  );
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  options: readonly (T | { value: T; text: string })[];
  onChange: (value: T) => void;
  /** Shown before the field, not only read aloud. */
  shown?: boolean;
  disabled?: boolean;
}

export function Select<T extends string>({ label, value, options, onChange, shown, disabled }: SelectProps<T>) {
  const id = useId();
  return (
    <span className="field">
      {shown && <label htmlFor={id}>{label}</label>}
      <select
        id={id}
        aria-label={shown ? undefined : label}
        value={value}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {options.map((option) => {
          const { value: one, text } = typeof option === "string" ? { value: option, text: option } : option;
          return (
            <option key={one} value={one}>
              {text}
            </option>
          );
        })}
      </select>
    </span>
  );
}

interface CheckProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  /** For rows of a table: the label is only read aloud. */
  bare?: boolean;
  disabled?: boolean;
  title?: string;
}

export function Check({ label, checked, onChange, bare, disabled, title }: CheckProps) {
  const box = (
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      aria-label={bare ? label : undefined}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
  if (bare) return box;
  return (
    <label className="check" title={title}>
      {box}
      <span>{label}</span>
    </label>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onEnter?: () => void;
  placeholder?: string;
  search?: boolean;
  wide?: boolean;
  mono?: boolean;
  bad?: boolean;
  maxLength?: number;
}

export function TextField(given: TextFieldProps) {
  const { label, value, onChange, onEnter, placeholder, search, wide, mono, bad, maxLength } = given;
  return (
    <span className={`field text-field${wide ? " wide" : ""}${search ? " search" : ""}`}>
      {search && <Icon name="search" />}
      <input
        type={search ? "search" : "text"}
        aria-label={label}
        aria-invalid={bad || undefined}
        className={mono ? "mono" : undefined}
        value={value}
        placeholder={placeholder ?? label}
        maxLength={maxLength}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && onEnter) onEnter();
        }}
      />
    </span>
  );
}

/** A switch between a few views of one widget. */
export function Tabs<T extends string>(props: {
  label: string;
  value: T;
  options: readonly { value: T; text: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div className="tabs" role="tablist" aria-label={props.label}>
      {props.options.map(({ value, text }) => (
        <button
          key={value}
          type="button"
          role="tab"
          aria-selected={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
