/**
 * Vocabulary of a scripted conversation. Every message carries a marker: a word that occurs nowhere else.
 * The examiner finds messages by their markers, so it needs no code of longhaul.
 */

/** Type of a marker, which is the last part of its name. */
export type MarkerKind =
  | "prompt"
  | "typed"
  | "text"
  | "thought"
  | "call"
  | "result"
  | "file"
  | "edit"
  | "fact";

const MARKER = /mk\d{4}(?:prompt|typed|text|thought|call|result|file|edit|fact)/g;
const MARKER_DIGITS = 4;

/** Returns each marker once, in the order of the text. */
export function markersIn(text: string): readonly string[] {
  return [...new Set(text.match(MARKER))];
}

/**
 * Returns true for markers of file contents. Only these may come back after a compaction, as restored files.
 */
export const isFileMarker = (marker: string): boolean => /(?:file|edit)$/.test(marker);

/** Creates markers for one lane of the run. No marker is used twice. */
export class Markers {
  #count = 0;

  next(kind: MarkerKind): string {
    return `mk${this.#digits()}${kind}`;
  }

  /**
   * Returns a shell command that prints the marker without containing it, so that only the result has the
   * marker.
   */
  printed(): { readonly command: string; readonly marker: string } {
    const digits = this.#digits();
    return { command: `printf 'mk%sresult' ${digits}`, marker: `mk${digits}result` };
  }

  #digits(): string {
    return String(++this.#count).padStart(MARKER_DIGITS, "0");
  }
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The marker in the result, if the tool returns one. */
  readonly result?: string;
  /** The answer of the subagent that this call starts. */
  readonly subagent?: { readonly marker: string; readonly answer: string };
}

/** One answer of the model. An answer without calls ends the turn. */
export interface Step {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly Call[];
  /** Input that is typed while the calls of this step run. */
  readonly typed?: string;
}

export interface Turn {
  readonly prompt: string;
  readonly steps: readonly Step[];
}

const WORDS =
  "parser cache token window budget queue worker socket buffer schema route ledger column branch signal vector thread packet mirror anchor".split(
    " ",
  );

/** Returns deterministic filler prose. `seed` makes each text different. */
export function filler(seed: string, sentences: number): string {
  let state = [...seed].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  const word = (): string => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return WORDS[(state >>> 8) % WORDS.length] ?? "parser";
  };
  const sentence = (_: unknown, at: number): string =>
    `Line ${at + 1}: the ${word()} of the ${word()} reads each ${word()} before the ${word()} writes its ${word()}.`;
  return Array.from({ length: sentences }, sentence).join("\n");
}
