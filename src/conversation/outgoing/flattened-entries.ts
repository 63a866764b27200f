import { Draft, entryPath } from "../check/draft.ts";
import type { Finding } from "../check/finding.ts";
import { type Entry, isSynthetic } from "../entry.ts";
import { type FlattenOptions, frameOf, readEntries } from "../flatten/flatten.ts";
import { schemasByName } from "../flatten/tool-input.ts";
import type { ApiMessage, ApiRequest } from "../message.ts";
import { isEntry, responseIdOf } from "../untrusted.ts";
import { withoutOnceChecked } from "./checked-messages.ts";
import { GrowingCheck, type ItemForm } from "./growing-check.ts";

/**
 * The one exit, for entries that grow at their end: always what {@link flattenChecked} makes of all that was
 * given, at the cost of what is new. Messages of rounds that are over stay the same objects.
 */
export class FlattenedEntries {
  readonly #check: GrowingCheck<Entry>;

  constructor(options: FlattenOptions = {}) {
    this.#check = new GrowingCheck(entryForm(options), options.check ?? {});
  }

  /** Forgets what was given before. Returns all that was found. */
  replace(entries: readonly Entry[]): readonly Finding[] {
    return this.#check.replace(entries);
  }

  /** Returns what was not found before. */
  append(added: readonly Entry[]): readonly Finding[] {
    return this.#check.append(added);
  }

  /**
   * What to send. Valid until the next `append` or `replace`, which may change this very array;
   * what {@link outbox} gives never does.
   */
  get messages(): readonly ApiMessage[] {
    return this.#check.messages;
  }

  /** What to send as of now, to be asked for now or later. */
  outbox(): () => readonly ApiMessage[] {
    return this.#check.outbox();
  }

  /** What goes along with the messages, as it was repaired; `messages` in it is empty. */
  get frame(): ApiRequest {
    return this.#check.frame;
  }

  /** All that flattening everything would find now. */
  get findings(): readonly Finding[] {
    return this.#check.findings;
  }

  /** How often all entries were looked at instead of the newest alone. */
  get fullPasses(): number {
    return this.#check.fullPasses;
  }
}

function entryForm(options: FlattenOptions): ItemForm<Entry> {
  const frame = frameOf(options);
  const tailFrame = { ...withoutOnceChecked(frame), messages: [] };
  const schemas = schemasByName(options.tools ?? []);
  const draftOf = (request: ApiRequest, entries: readonly Entry[], from: number): Draft => {
    const draft = new Draft(request, entryPath);
    draft.messages = readEntries(draft, entries, { ...options, schemas, from });
    return draft;
  };
  return {
    draftWhole: (entries) => draftOf(frame, entries, 0),
    draftTail: (entries, from) => draftOf(tailFrame, entries, from),
    makesMessages: true,
    joinId: (entry) =>
      isEntry(entry) && entry.type === "assistant" && !isSynthetic(entry) ? responseIdOf(entry) : undefined,
  };
}
