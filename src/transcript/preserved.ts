import type { CompactBoundaryEntry } from "../conversation/entry.ts";
import { field, stringField } from "../conversation/untrusted.ts";

/** The messages that a compaction kept, as its boundary records them. They stay where they were in the file. */
export interface Preserved {
  /** The line that the first kept message follows: the boundary or its summary. */
  readonly anchorUuid: string | undefined;
  /** Every kept line in order; undefined when the boundary names only the first and the last. */
  readonly uuids: readonly string[] | undefined;
  /** The first and the last kept line, between which a reader follows `parentUuid`. */
  readonly segment: { readonly headUuid: string; readonly tailUuid: string } | undefined;
}

/** Reads the record from a boundary, whose fields may hold anything. Undefined when nothing was kept. */
export function preservedBy(boundary: CompactBoundaryEntry): Preserved | undefined {
  const { preservedMessages, preservedSegment } = boundary.compactMetadata;
  const uuids = distinctStrings(field(preservedMessages, "uuids"));
  const headUuid = stringField(preservedSegment, "headUuid");
  const tailUuid = stringField(preservedSegment, "tailUuid");
  const segment = headUuid === undefined || tailUuid === undefined ? undefined : { headUuid, tailUuid };
  if (uuids === undefined && segment === undefined) return undefined;
  const listAnchor = uuids && stringField(preservedMessages, "anchorUuid");
  return { anchorUuid: listAnchor ?? stringField(preservedSegment, "anchorUuid"), uuids, segment };
}

/** The id of the first kept message. */
export const firstOf = ({ uuids, segment }: Preserved): string => uuids?.[0] ?? segment?.headUuid ?? "";

/** A list that is empty, repeats an id or holds something else describes no order that a reader could follow. */
function distinctStrings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (!value.every((item) => typeof item === "string")) return undefined;
  return new Set(value).size === value.length ? value : undefined;
}
