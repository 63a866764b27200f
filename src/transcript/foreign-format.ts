import type { Entry } from "../conversation/entry.ts";

/** Kinds of line by which other agents' session files are known. Ours are never called so. */
const AGENT_BY_TYPE: ReadonlyMap<string, string> = new Map([
  ["session_meta", "a Codex rollout"],
  ["response_item", "a Codex rollout"],
  ["event_msg", "a Codex rollout"],
  ["turn_context", "a Codex rollout"],
  ["message", "a session of pi"],
  ["thinking_level_change", "a session of pi"],
  ["session.start", "a Copilot CLI session"],
  ["user.message", "a Copilot CLI session"],
  ["assistant.message", "a Copilot CLI session"],
  ["assistant.turn_start", "a Copilot CLI session"],
]);

/** What another agent's file is called, or undefined when nothing about it is known. */
export function foreignFormat(entries: readonly Entry[]): string | undefined {
  for (const entry of entries) {
    if (entry.uuid !== undefined) return undefined;
    const name = AGENT_BY_TYPE.get(entry.type);
    if (name !== undefined) return name;
  }
  return undefined;
}
