import type { Composition } from "../composition.ts";
import { inspectSession } from "../inspect-report.ts";
import { inspectView } from "../view/inspect-view.ts";

export interface InspectOptions {
  readonly json?: boolean;
  readonly window?: number;
  readonly modelWindow?: string;
}

/** Where the tokens of a session are, and how far it is from its window. */
export async function inspect(
  query: string,
  options: InspectOptions,
  composition: Composition,
): Promise<void> {
  const session = await composition.load(query);
  const report = inspectSession(session, composition.thresholdsOf(session, options));
  const { terminal } = composition;
  terminal.print(options.json ? JSON.stringify(report, null, 2) : inspectView(report, terminal));
}
