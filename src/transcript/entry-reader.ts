import { isUtf8 } from "node:buffer";
import type { Entry } from "../conversation/entry.ts";
import { isNestedTooDeep, mayNestTooDeep, withoutDeepParts } from "../conversation/untrusted.ts";
import type { Damage, DamageKind } from "./damage.ts";
import { entryFromJson } from "./entry-shape.ts";
import { recoverLine } from "./recover-line.ts";

/**
 * Returns the form in which an entry is held. `bytes` is the length of its line, and 0 for one of several entries that
 * a damaged line holds.
 */
export type HoldEntry = (entry: Entry, offset: number, bytes: number) => Entry;

/** Turns lines into entries, and notes what was wrong with them. Never throws for what a line holds. */
export class EntryReader {
  readonly entries: Entry[] = [];
  readonly damage: Damage[] = [];
  readonly #shared = new SharedStrings();
  readonly #hold: HoldEntry | undefined;
  #line: number | undefined;

  /** @param firstLine number of the first line; undefined when reading does not begin at the start. */
  constructor(firstLine: number | undefined, hold?: HoldEntry) {
    this.#line = firstLine;
    this.#hold = hold;
  }

  readonly read = (bytes: Buffer, offset: number, isComplete: boolean): void => {
    const text = decoded(bytes);
    let value: unknown;
    let isJson = false;
    if (text !== undefined) {
      try {
        value = JSON.parse(text);
        isJson = true;
      } catch {
        if (isBlank(text)) {
          this.#nextLine();
          return;
        }
      }
    }
    const isDeep = text !== undefined && mayNestTooDeep(text);
    if (!isJson) this.#recover(text, bytes, offset, isComplete, isDeep);
    else this.#add(isDeep ? this.#withoutDeepParts(value, offset) : value, offset, bytes.length);
    if (text?.includes("\uFFFD") && !isUtf8(bytes)) this.#note("invalid-utf8", offset, 0);
    this.#nextLine();
  };

  #add(value: unknown, offset: number, bytes: number): void {
    const entry = entryFromJson(value);
    if (entry === undefined) this.#note("not-an-entry", offset, bytes);
    else {
      this.#shared.shareIn(entry);
      this.entries.push(this.#hold === undefined ? entry : this.#hold(entry, offset, bytes));
    }
  }

  /** The conversation goes on with the rest of the line. The file keeps all of it. */
  #withoutDeepParts(value: unknown, offset: number): unknown {
    if (!isNestedTooDeep(value)) return value;
    this.#note("nested-too-deep", offset, 0);
    return withoutDeepParts(value);
  }

  #recover(
    text: string | undefined,
    bytes: Buffer,
    offset: number,
    isComplete: boolean,
    isDeep: boolean,
  ): void {
    const { values, lostBytes } =
      text === undefined ? { values: [], lostBytes: bytes.length } : recoverLine(text);
    for (const value of values) this.#add(isDeep ? this.#withoutDeepParts(value, offset) : value, offset, 0);
    if (values.length > 1) this.#note("glued-lines", offset, 0);
    if (lostBytes === 0) return;
    if (!isComplete) this.#note("torn-last-line", offset, lostBytes);
    else if (text?.includes("\0")) this.#note("nul-bytes", offset, lostBytes);
    else this.#note("broken-line", offset, lostBytes);
  }

  #note(kind: DamageKind, offset: number, bytes: number): void {
    this.damage.push({ kind, line: this.#line, offset, bytes });
  }

  #nextLine(): void {
    if (this.#line !== undefined) this.#line++;
  }
}

/** Most lines repeat these strings from the line above; each copy would take memory of its own. */
const REPEATED_FIELDS = ["sessionId", "cwd", "version", "gitBranch", "requestId"] as const;

/** Replaces a string in a parsed line by the equal string of an earlier line. */
class SharedStrings {
  readonly #last: Record<string, unknown> = {};

  shareIn(entry: Entry): void {
    const line = entry as unknown as Record<string, unknown>;
    for (const name of REPEATED_FIELDS) this.#share(line, name, name);
    // The parent mostly is the line above.
    if (line.parentUuid === this.#last.uuid && line.parentUuid !== undefined)
      line.parentUuid = this.#last.uuid;
    if (typeof line.uuid === "string") this.#last.uuid = line.uuid;
    if (entry.type !== "assistant") return;
    const message = entry.message as unknown as Record<string, unknown>;
    this.#share(message, "id", "message.id");
    this.#share(message, "model", "message.model");
  }

  #share(record: Record<string, unknown>, name: string, key: string): void {
    const value = record[name];
    if (typeof value !== "string") return;
    if (this.#last[key] === value) record[name] = this.#last[key];
    else this.#last[key] = value;
  }
}

/** A line longer than a string can be is lost, but only that line. */
function decoded(bytes: Buffer): string | undefined {
  try {
    const text = bytes.toString("utf8");
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  } catch {
    return undefined;
  }
}

function isBlank(text: string): boolean {
  return text.length === 0 || text.trim().length === 0;
}
