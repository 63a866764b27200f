import type { Entry } from "../conversation/entry.ts";
import type { Todo } from "../conversation/todo-ledger.ts";
import { agentsIn } from "./background-agents.ts";
import type { BackgroundAgent, UsedSkill } from "./host-state.ts";
import { isPlanModeIn, todosIn } from "./plan-and-todos.ts";
import { sessionEvents } from "./session-events.ts";
import { skillsIn } from "./skills.ts";

/** What a conversation itself tells of its state. */
export interface ToldState {
  readonly todos: readonly Todo[];
  readonly isPlanMode: boolean;
  /** The newest first. */
  readonly skills: readonly UsedSkill[];
  /** Launched and not heard of since, and ended without their result having been told. */
  readonly agents: readonly BackgroundAgent[];
}

/** For hosts that go on with a session: what they knew when it was left, read from its calls and attachments. */
export function readHostState(conversation: readonly Entry[]): ToldState {
  const events = sessionEvents(conversation);
  return {
    todos: todosIn(events),
    isPlanMode: isPlanModeIn(events),
    skills: skillsIn(events),
    agents: agentsIn(events),
  };
}
