import type { AgentEvent } from "@longhaul/agent";

/** Handlers by event type. */
export type EventHandlers = {
  readonly [Type in AgentEvent["type"]]?: (event: Extract<AgentEvent, { readonly type: Type }>) => void;
};

/** Calls the handler for an event. Does nothing if there is none. */
export function handle(event: AgentEvent, handlers: EventHandlers): void {
  const handler = handlers[event.type] as ((event: AgentEvent) => void) | undefined;
  handler?.(event);
}
