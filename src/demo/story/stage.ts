import type { Random } from "../random.ts";
import type { Recorder, ToolCall } from "../recorder.ts";
import { commitReport, type TestFailure, testReport } from "../reports.ts";
import type { Toolbox } from "../tools.ts";
import type { Workspace } from "../workspace.ts";

/** How far the elastic parts of the story may go. The rest of it always takes about the same room. */
export interface StoryPlan {
  readonly paginationTokens: number;
  readonly concurrencyTokens: number;
  /** Log excerpts are read until the context is this large: they bring the session to its size. */
  readonly contextTokensAfterLogs: number;
}

export interface Stage {
  readonly recorder: Recorder;
  readonly tools: Toolbox;
  readonly workspace: Workspace;
  readonly random: Random;
  readonly plan: StoryPlan;
  /** Context size once the logs have been read, for planning the second telling. */
  readonly measured: { contextTokensAfterLogs: number };
}

export type Scene = (stage: Stage) => void;

export function runTests(
  stage: Stage,
  paths: readonly string[],
  failures: readonly TestFailure[] = [],
): ToolCall {
  const report = (): string => testReport(stage.workspace, stage.random, paths, failures);
  const command = `npx vitest run ${paths.join(" ")}`;
  const describe = `Run ${paths.length === 1 ? paths[0] : `${paths.length} test files`}`;
  return failures.length === 0
    ? stage.tools.bash(command, describe, report, 1.4)
    : stage.tools.failingBash(command, describe, report, 1.6);
}

export function commit(stage: Stage, subject: string, paths: readonly string[]): ToolCall {
  const command = `git add ${paths.join(" ")} && git commit -m "${subject}"`;
  return stage.tools.bash(command, "Commit this piece", () => commitReport(stage.random, subject, paths));
}

/** Ends a turn the way the agent does: words, then the harness notes how long it took. */
export function conclude(stage: Stage, text: string): void {
  stage.recorder.respond({ text });
  stage.recorder.endTurn();
}
