import { isCollapseMark } from "./collapsed.ts";
import { type Entry, isMicrocompactBoundary } from "./entry.ts";
import { field } from "./fields.ts";
import { isEntry } from "./untrusted.ts";

/**
 * What a mark says that the last reported usage overstates: results that were cleared since, spans that were
 * collapsed. Below 0 where something came back. Undefined for what is no such mark.
 */
export function savedTokens(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isMicrocompactBoundary(entry)) return figure(field(entry.microcompactMetadata, "tokensSaved"));
  return isCollapseMark(entry) ? figure(field(entry.collapse, "tokensSaved")) : undefined;
}

const figure = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
