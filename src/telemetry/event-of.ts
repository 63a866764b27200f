import type { CompactorEvent, FailureReason } from "../turn/events.ts";

export type EventOf<T extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: T }>;

export type CompactionEnd = EventOf<"compacted" | "compaction-failed">;

/** Somebody decided so, or there was nothing to do: no reason to wake anyone. */
const NO_ERROR: ReadonlySet<FailureReason> = new Set(["aborted", "blocked_by_hook", "not_enough_messages"]);

export const isError = (event: CompactionEnd): event is EventOf<"compaction-failed"> =>
  event.type === "compaction-failed" && !NO_ERROR.has(event.reason);
