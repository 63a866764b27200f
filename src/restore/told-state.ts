import type { Entry } from "../conversation/entry.ts";
import type { Todo } from "../conversation/todo-ledger.ts";
import { agentsIn } from "./agents.ts";
import { happeningsIn } from "./happenings.ts";
import type { BackgroundAgent, UsedSkill } from "./host-state.ts";
import { planModeIn } from "./plan-mode.ts";
import { skillsIn } from "./skills.ts";
import { todosIn } from "./todos.ts";

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
  const happenings = happeningsIn(conversation);
  return {
    todos: todosIn(happenings),
    isPlanMode: planModeIn(happenings).isOn,
    skills: skillsIn(happenings),
    agents: agentsIn(happenings),
  };
}
