import type { Entry } from "@longhaul/core/messages";
import { createPolicy, type Policy, type PolicyOptions } from "@longhaul/lab";
import manifest from "../../packages/core/package.json" with { type: "json" };
import { SessionFiles } from "../../packages/lab/src/session-files.ts";
import { type CheckedPolicy, checked } from "./peer-policy.ts";
import { SUMMARY_TOKENS } from "./summary-writer.ts";

const { version } = manifest;

/** Creates our own policy. `summaryTokens` is the length of its summaries. */
export function longhaulPolicy(name: string, options: PolicyOptions): CheckedPolicy {
  const files = new SessionFiles();
  const seen = new WeakSet<Entry>();
  const policy = createPolicy("longhaul", { ...options, state: { files } });
  const shrink: Policy["shrink"] = (input) => {
    // The conversation holds complete rounds, so each round is read once.
    const fresh = input.entries.filter((entry) => !seen.has(entry));
    for (const entry of fresh) seen.add(entry);
    files.add(fresh);
    return policy.shrink(input);
  };
  return checked({ ...policy, name, shrink }, version);
}

/** Our own policies: with summaries as long as those of the other libraries, and with its defaults. */
export const policies: readonly ((model: string | undefined) => CheckedPolicy)[] = [
  (model) => longhaulPolicy("longhaul", { model, summaryTokens: SUMMARY_TOKENS }),
  (model) => longhaulPolicy("longhaul, default length", { model }),
];
