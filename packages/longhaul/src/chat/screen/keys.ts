import { emitKeypressEvents, type Interface, type Key } from "node:readline";
import type { Edit } from "./editor.ts";

/** A key press or paste. */
export type KeyPress =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** Names such as `up`, `ctrl-c`, `alt-enter`. */
  | { readonly type: "key"; readonly name: string };

/**
 * Time to wait for another byte after Esc. If none arrives, Esc counts as a separate key. The wait is
 * necessary because the sequences of other keys also begin with Esc. Readline waits half a second by default,
 * which is too long for a person who wants to stop an agent. Bytes of one key arrive together, except on the
 * slowest connections.
 */
const ESC_ALONE_MS = 80;

/** Reports key presses until the returned function is called. */
export function listenToKeys(input: NodeJS.ReadableStream, pressed: (press: KeyPress) => void): () => void {
  // Readline uses only this field of the interface.
  emitKeypressEvents(input, { escapeCodeTimeout: ESC_ALONE_MS } as unknown as Interface);
  const read = createKeyReader(pressed);
  input.on("keypress", read);
  return () => input.removeListener("keypress", read);
}

/**
 * Minimum pause before Ctrl-C or Esc ends a cancelled paste. After Ctrl-C cancels a paste, its rest is
 * ignored until its end mark. If that mark never comes, Ctrl-C or Esc after such a pause ends the paste.
 * Shorter pauses may come from a slow connection.
 */
const QUIET_AFTER_PASTE_MS = 1_000;

type KeyReader = (text: string | undefined, key: Key) => void;

/**
 * Combines the events of readline. Readline reports a paste as single characters. This reader reports it as
 * one text, and no character in it counts as a key.
 */
function createKeyReader(pressed: (press: KeyPress) => void): KeyReader {
  let pasted: string[] | undefined;
  /** Time of the last input of a cancelled paste. The rest of the paste is ignored. */
  let droppedAt: number | undefined;
  const endPaste = (): void => {
    if (pasted !== undefined) pressed({ type: "paste", text: pasted.join("") });
    pasted = undefined;
  };
  return (text, key) => {
    if (key.name === "paste-end") {
      droppedAt = undefined;
      return endPaste();
    }
    if (droppedAt !== undefined) {
      const isAlone = performance.now() - droppedAt >= QUIET_AFTER_PASTE_MS;
      droppedAt = performance.now();
      const isPlea = (key.ctrl === true && key.name === "c") || key.name === "escape";
      if (!isAlone || !isPlea) return;
      droppedAt = undefined;
    }
    if (key.name === "paste-start") {
      pasted = [];
      return;
    }
    // A terminal that never sends the end of a paste must not trap the person, so Ctrl-C ends the paste.
    if (key.ctrl && key.name === "c" && pasted !== undefined) {
      endPaste();
      droppedAt = performance.now();
    }
    if (pasted !== undefined) {
      pasted.push(text ?? key.sequence ?? "");
      return;
    }
    const name = nameOf(key);
    if (name !== undefined) pressed({ type: "key", name });
    else if (text !== undefined && isText(text, key)) pressed({ type: "text", text });
  };
}

const isText = (text: string, key: Key): boolean => !key.ctrl && !key.meta && !/\p{Cc}/u.test(text);

const RENAMED: Readonly<Record<string, string>> = { return: "enter", enter: "ctrl-j", escape: "esc" };
/** Shift-Enter, on terminals that distinguish it from Enter. */
const SHIFT_ENTER = "\u001b[13;2u";

/** Returns the name of a key. Undefined for text and for unknown keys. */
function nameOf(key: Key): string | undefined {
  if (key.sequence === SHIFT_ENTER) return "alt-enter";
  if (key.name === undefined || key.name === "undefined") return undefined;
  const name = RENAMED[key.name] ?? key.name;
  // Readline reports Esc with the modifier `meta`, so this check comes before the modifiers.
  if (name === "esc") return "esc";
  if (key.ctrl) return `ctrl-${name}`;
  if (key.meta) return `alt-${name}`;
  if (key.shift && name === "tab") return "shift-tab";
  return name.length > 1 && name !== "space" ? name : undefined;
}

const KEYS_OF: Readonly<Record<Edit, readonly string[]>> = {
  left: ["left", "ctrl-b"],
  right: ["right", "ctrl-f"],
  "word-left": ["ctrl-left", "alt-left", "alt-b"],
  "word-right": ["ctrl-right", "alt-right", "alt-f"],
  "line-start": ["home", "ctrl-a"],
  "line-end": ["end", "ctrl-e"],
  up: ["up", "ctrl-p"],
  down: ["down", "ctrl-n"],
  "delete-left": ["backspace", "ctrl-h"],
  "delete-right": ["delete", "ctrl-d"],
  "take-word-left": ["ctrl-w", "alt-backspace", "ctrl-backspace"],
  "take-word-right": ["alt-d"],
  "take-line-left": ["ctrl-u"],
  "take-line-right": ["ctrl-k"],
  put: ["ctrl-y"],
};

export const EDITING_KEYS: ReadonlyMap<string, Edit> = new Map(
  Object.entries(KEYS_OF).flatMap(([how, keys]) => keys.map((key) => [key, how as Edit])),
);
