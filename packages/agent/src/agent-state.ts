import type { Entry } from "@longhaul/core";
import type { Todo } from "@longhaul/core/messages";
import { readHostState, type UsedSkill } from "@longhaul/core/restore";
import type { AgentState } from "./workplace.ts";

interface AgentStateOptions {
  /** Of a session that is gone on with: what it tells of the state is where this one begins. */
  readonly conversation?: readonly Entry[] | undefined;
  readonly planPath: string;
  /** For a subagent: whether anything may be changed is the main conversation's to say. */
  readonly main?: AgentState | undefined;
}

export interface SessionState extends AgentState {
  /** Back to what a conversation tells: after an undo or a rewind, which can take changes back. */
  readFrom(conversation: readonly Entry[]): void;
}

/** Nothing of it is written anywhere: the calls that change it are in the conversation, and are read back from there. */
export function createAgentState({ conversation = [], planPath, main }: AgentStateOptions): SessionState {
  let { todos, isPlanMode, skills } = readHostState(conversation);
  return {
    planPath,
    get todos(): readonly Todo[] {
      return todos;
    },
    get isPlanMode(): boolean {
      return main?.isPlanMode ?? isPlanMode;
    },
    get usedSkills(): readonly UsedSkill[] {
      return skills;
    },
    setTodos(list) {
      todos = [...list];
    },
    setPlanMode(isOn) {
      isPlanMode = isOn;
    },
    usedSkill(skill) {
      skills = [skill, ...skills.filter(({ name }) => name !== skill.name)];
    },
    readFrom(entries) {
      ({ todos, isPlanMode, skills } = readHostState(entries));
    },
  };
}
