import { createDemoSession } from "../../demo/demo.ts";
import { type EvaluateOptions, evaluateSession, evaluateStream } from "../../evaluate/evaluate.ts";
import type { PolicyName } from "../../evaluate/policy.ts";
import type { Evaluation } from "../../evaluate/result.ts";
import { asStream } from "../../evaluate/stream.ts";
import { totalOf } from "../../evaluate/totals.ts";
import type { Composition } from "../composition.ts";
import { eachSession, GENERATED_SESSION } from "../each-session.ts";
import { evalView } from "../view/eval-view.ts";
import { plural } from "../view/numbers.ts";

export interface EvalOptions {
  readonly json?: boolean;
  /** The session of the demonstration, for those who have none at hand. */
  readonly generated?: boolean;
  readonly policies?: readonly PolicyName[];
  readonly compactions?: readonly number[];
  readonly window?: number;
  /** List what is not in the context. */
  readonly missing?: boolean;
}

/** What is still known of sessions after compactions in a chain, by this and by other ways to compact. */
export async function evaluate(
  queries: readonly string[],
  options: EvalOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  const evaluations: Evaluation[] = [
    ...(await eachSession(queries, composition, (session) =>
      evaluateSession(session, evaluateOptions(session.id, options, composition)),
    )),
  ];
  if (options.generated) {
    const generated = evaluateOptions(GENERATED_SESSION.id, options, composition);
    evaluations.push(await evaluateStream(GENERATED_SESSION, asStream(createDemoSession()), generated));
  }
  const report = { sessions: evaluations, total: totalOf(evaluations) };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : evalView(report, options, terminal));
}

function evaluateOptions(
  id: string,
  options: EvalOptions,
  { terminal, prices }: Composition,
): EvaluateOptions {
  return {
    policies: options.policies,
    compactions: options.compactions,
    windowTokens: options.window,
    prices,
    onProgress: ({ policy, compactions, done, total }) =>
      terminal.progress(
        `${id.slice(0, 8)}: ${policy}, ${plural(compactions, "compaction")} (${done + 1} of ${total}) …`,
      ),
  };
}
