import type { AgentEvent, WindowReading } from "@longhaul/agent";
import type { CompactorEvent } from "@longhaul/core/engine";

type EventOf<Type extends CompactorEvent["type"]> = Extract<CompactorEvent, { readonly type: Type }>;

/** Record of the agent's events: the guide says nothing that did not happen. */
export class TourEvents {
  /** Model calls of the main conversation. */
  turns = 0;
  /** Of the main conversation, oldest first. */
  readonly compactor: CompactorEvent[] = [];
  /** Calls that were answered, by tool. */
  readonly calls: Map<string, number> = new Map();
  /** Compactions whose summary was there before it was needed. */
  fromBackground = 0;
  /** Ids of subagents. */
  readonly subagents: Set<string> = new Set();
  /** The fullest that the window was before or after a call. */
  peakTokens = 0;
  reading: WindowReading | undefined;
  /** Runs that did not end with an answer. */
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
