import { isCollapseMark } from "./collapsed.ts";
import { type Entry, isMicrocompactBoundary } from "./entry.ts";
import { figureField } from "./fields.ts";
import { isSnipEnd } from "./snipped.ts";
import { isEntry } from "./untrusted.ts";

/**
 * What a mark says that the last reported usage overstates: results that were cleared since, spans that were
 * collapsed, messages that were removed. Below 0 where something came back. Undefined for what is no such mark.
 */
export function savedTokens(entry: Entry): number | undefined {
  if (!isEntry(entry)) return undefined;
  if (isMicrocompactBoundary(entry)) return figureField(entry.microcompactMetadata, "tokensSaved");
  if (isSnipEnd(entry)) return figureField(entry.snip, "tokensSaved");
  return isCollapseMark(entry) ? figureField(entry.collapse, "tokensSaved") : undefined;
}
