/**
 * A question of the exam: is this still known?
 *
 * - `directive`: something that a person said.
 * - `file`: a path that the agent needs again. `error`: what went wrong, and the file that mended it.
 * - `decision`: a question with the person's answer. `number`: a figure in a person's words, with the word beside it.
 * - `task`: an open item.
 */
export type ProbeKind = "directive" | "file" | "error" | "decision" | "number" | "task";

export const PROBE_KINDS: readonly ProbeKind[] = ["directive", "file", "error", "decision", "number", "task"];

export interface Probe {
  /** The same for the same session: kind and number. */
  readonly id: string;
  readonly kind: ProbeKind;
  /** For people: what is asked for. */
  readonly text: string;
  /** All of them must stand in a text that holds it, up to white space. None reaches over the end of a line. */
  readonly needles: readonly string[];
  /** Of a directive: nothing has been said or done since that would settle it. */
  readonly isActive?: boolean;
}

export type DraftProbe = Omit<Probe, "id">;
