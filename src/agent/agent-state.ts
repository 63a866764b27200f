import { createHash } from "node:crypto";
import { type Entry, readHostState, type Todo, type UsedSkill } from "../index.ts";
import type { AgentState, ReadState, SeenFile } from "./workplace.ts";

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

/** One for each agent: what another has seen, this one has not. */
export function createReadState(): ReadState {
  const seenFiles = new Map<string, SeenFile>();
  return {
    get: (realPath) => seenFiles.get(realPath),
    saw: (realPath, seen) => {
      const before = seenFiles.get(realPath);
      // Who has seen all of it still has, when a part is looked at again.
      const isPartOfKnown =
        before?.fingerprint === seen.fingerprint && before.range === undefined && seen.range !== undefined;
      if (!isPartOfKnown) seenFiles.set(realPath, seen);
    },
    forget: (realPath) => {
      seenFiles.delete(realPath);
    },
    clear: () => seenFiles.clear(),
  };
}

export const fingerprintOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
