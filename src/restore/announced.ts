import type { Entry } from "../conversation/entry.ts";
import { isEntry } from "../conversation/entry.ts";
import { listField, stringField } from "../conversation/untrusted.ts";
import type { Happening } from "./happenings.ts";

/** Agents announce tools, kinds of agents and servers by what has changed since the last time. */
interface DeltaFields {
  readonly added: string;
  /** One for each that was added: a line or a block of text; the name itself where there is none. */
  readonly words: string;
  readonly removed: string;
  /** Announced before, gone, and back: named without its words. */
  readonly readded?: string;
}

/** All that is announced by now: names with their words, in the order in which they came. */
export function announcedIn(
  happenings: Iterable<Happening>,
  type: string,
  fields: DeltaFields,
): ReadonlyMap<string, string> {
  const announced = new Map<string, string>();
  for (const happening of happenings) {
    if (happening.what !== "attachment" || happening.type !== type) continue;
    const words = listField(happening.attachment, fields.words);
    for (const [index, name] of listField(happening.attachment, fields.added).entries()) {
      const said = words[index];
      if (typeof name === "string") announced.set(name, typeof said === "string" ? said : name);
    }
    for (const name of listField(happening.attachment, fields.removed)) {
      if (typeof name === "string") announced.delete(name);
    }
    if (fields.readded === undefined) continue;
    for (const name of listField(happening.attachment, fields.readded)) {
      if (typeof name === "string") announced.set(name, announced.get(name) ?? name);
    }
  }
  return announced;
}

/** What was announced only in messages that are kept still stands there. */
export function isAnnouncedIn(entries: readonly Entry[], type: string): boolean {
  return entries.some(
    (entry) =>
      isEntry(entry) && entry.type === "attachment" && stringField(entry.attachment, "type") === type,
  );
}
