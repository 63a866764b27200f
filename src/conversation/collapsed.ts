import type { UserEntry } from "./entry.ts";

/** What stands where a span of old messages was collapsed: its summary, and which messages those were. */
export interface CollapsedSpan extends UserEntry {
  readonly collapsed: CollapseRecord;
}

export interface CollapseRecord {
  /** By which it can be expanded again. */
  readonly spanId: string;
  readonly messages: number;
  readonly uuids: readonly string[];
  /** What its messages held, and what the summary holds, in tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The model ties thinking to the history before it: that of messages after the span went with it. */
  readonly bindsThinking?: boolean;
}
