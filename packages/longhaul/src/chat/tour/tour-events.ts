import type { AgentEvent, WindowReading } from "@longhaul/agent";
import type { CompactorEvent } from "@longhaul/core/engine";

type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

/** Record of the agent's events, so that the guide mentions only events that really happened. */
export class TourEvents {
  /** Number of model calls of the main conversation. */
  turns = 0;
  /** Events of the main conversation, oldest first. */
  readonly compactor: CompactorEvent[] = [];
  /** Number of answered calls, by tool. */
  readonly calls: Map<string, number> = new Map();
  /** Number of compactions whose summary was ready before it was needed. */
  fromBackground = 0;
  /** Ids of subagents. */
  readonly subagents: Set<string> = new Set();
  /** Maximum fill level of the window before or after a call. */
  peakTokens = 0;
  reading: WindowReading | undefined;
  /** Runs that ended without an answer. */
  readonly failures: string[] = [];
  #isReady = false;

  saw(event: AgentEvent): void {
    switch (event.type) {
      case "usage":
        this.turns += 1;
        break;
      case "compactor":
        this.#countBackground(event.event);
        this.compactor.push(event.event);
        break;
      case "call-ended":
        this.calls.set(event.tool, (this.calls.get(event.tool) ?? 0) + 1);
        break;
      case "window":
        this.reading = event;
        this.peakTokens = Math.max(this.peakTokens, event.tokens);
        break;
      case "agent":
        this.subagents.add(event.agentId);
        break;
      case "ended":
        if (event.reason === "failed") this.failures.push(event.error?.code ?? "unknown");
        break;
    }
  }

  #countBackground(event: CompactorEvent): void {
    if (event.type === "background-ended") this.#isReady = event.outcome === "ready";
    if (event.type !== "compacted") return;
    if (this.#isReady && event.tier === "full") this.fromBackground += 1;
    this.#isReady = false;
  }

  all<Type extends CompactorEvent["type"]>(type: Type): readonly EventOf<Type>[] {
    return this.compactor.filter((event): event is EventOf<Type> => event.type === type);
  }

  newest<Type extends CompactorEvent["type"]>(type: Type): EventOf<Type> | undefined {
    return this.all(type).at(-1);
  }
}
