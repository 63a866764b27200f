import { emitKeypressEvents, type Interface, type Key } from "node:readline";
import type { Edit } from "./editor.ts";

/** What a person did at the keyboard. */
export type KeyPress =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** Named like `up`, `ctrl-c`, `alt-enter`. */
  | { readonly type: "key"; readonly name: string };

/**
 * Esc is also how the sequences of other keys begin: alone it is when nothing follows for so long. Readline's half a second
 * is long for somebody who wants to stop an agent; the bytes of one key come together but over the slowest line.
 */
const ESC_ALONE_MS = 80;

/** Tells of key presses until it is called again. */
export function listenToKeys(input: NodeJS.ReadableStream, pressed: (press: KeyPress) => void): () => void {
  // Of the interface it wants, only this is looked at.
  emitKeypressEvents(input, { escapeCodeTimeout: ESC_ALONE_MS } as unknown as Interface);
  const read = createKeyReader(pressed);
  input.on("keypress", read);
  return () => input.removeListener("keypress", read);
}

/** A line may stall within a paste. A person who wants out of one that never ends presses Ctrl-C or Esc after a pause. */
const QUIET_AFTER_PASTE_MS = 1_000;

type KeyReader = (text: string | undefined, key: Key) => void;

/** Puts together what readline tells: pastes come in single characters, and everything in them is text. */
function createKeyReader(pressed: (press: KeyPress) => void): KeyReader {
  let pasted: string[] | undefined;
  /** A paste was broken off: the rest of it is nobody's keys. */
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
    // A terminal that never ends a paste must not hold a person forever.
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
/** Shift-Enter, of terminals that tell it from Enter. */
const SHIFT_ENTER = "\u001b[13;2u";

/** Undefined for what is text, and for keys that nobody knows. */
function nameOf(key: Key): string | undefined {
  if (key.sequence === SHIFT_ENTER) return "alt-enter";
  if (key.name === undefined || key.name === "undefined") return undefined;
  const name = RENAMED[key.name] ?? key.name;
  // Readline takes Esc for a modifier, also of itself.
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
