import type { Entry } from "@longhaul/core";
import type { Todo } from "@longhaul/core/messages";
import { readHostState, type UsedSkill } from "@longhaul/core/restore";
import type { AgentState } from "./workplace.ts";

interface AgentStateOptions {
  /** Entries of a resumed session. The initial state is read from them. */
  readonly conversation?: readonly Entry[] | undefined;
  readonly planPath: string;
  /**
   * State of the main conversation. Only a subagent has this option. The main state decides whether plan mode
   * is on.
   */
  readonly main?: AgentState | undefined;
}

export interface SessionState extends AgentState {
  /** Reads the state from a conversation again, after an undo or a rewind. */
  readFrom(conversation: readonly Entry[]): void;
}

/**
 * Creates the state without a file. The state can be restored from the conversation, which contains all tool
 * calls that changed it.
 */
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
