import type { AgentEvent } from "@longhaul/agent";

/** A function for each kind of event that a part of the chat handles. */
export type EventHandlers = {
  readonly [Type in AgentEvent["type"]]?: (event: Extract<AgentEvent, { readonly type: Type }>) => void;
};

/** Does nothing where there is no handler. */
export function handle(event: AgentEvent, handlers: EventHandlers): void {
  const handler = handlers[event.type] as ((event: AgentEvent) => void) | undefined;
  handler?.(event);
}
