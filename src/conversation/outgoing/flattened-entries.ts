import { Draft, entryPath } from "../check/draft.ts";
import { schemasByName } from "../check/rules/tool-inputs.ts";
import { type Entry, isEntry, isSynthetic, responseIdOf } from "../entry.ts";
import { type FlattenOptions, frameOf, readEntries } from "../flatten/flatten.ts";
import type { ApiRequest } from "../message.ts";
import { withoutOnceChecked } from "./checked-messages.ts";
import { GrowingCheck, type ItemForm } from "./growing-check.ts";

/**
 * The one exit, for entries that grow at their end: always what {@link flattenChecked} makes of all that was
 * given, at the cost of what is new. Messages of rounds that are over stay the same objects.
 */
export class FlattenedEntries extends GrowingCheck<Entry> {
  constructor(options: FlattenOptions = {}) {
    super(entryForm(options), options.check ?? {});
  }
}

function entryForm(options: FlattenOptions): ItemForm<Entry> {
  const frame = frameOf(options);
  const tailFrame = { ...withoutOnceChecked(frame), messages: [] };
  const schemas = schemasByName(options.tools);
  const draftOf = (request: ApiRequest, entries: readonly Entry[], from: number): Draft => {
    const draft = new Draft(request, { pathOf: entryPath, schemas });
    draft.messages = readEntries(draft, entries, { ...options, from });
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
