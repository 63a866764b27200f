// A model writes the summary, and the result is ready to send. If the model fails, the error says whether a
// retry can help. The built-in summarizer needs no model.
import { randomUUID } from "node:crypto";
import { anthropicModel } from "@longhaul/anthropic";
import { ModelError } from "@longhaul/core";
import { compact, planCompaction } from "@longhaul/core/compaction";
import { startSimulator } from "@longhaul/simulator";
import { conversation } from "./conversation.ts";

const simulator = await startSimulator();
const model = anthropicModel({ model: "claude-sonnet-5-5", baseURL: simulator.url, apiKey: "any" });
const ports = { now: () => new Date(), newUuid: randomUUID };
const plan = planCompaction({ entries: conversation }, { keepRecentTokens: 5_000 });

const { written, tokensBefore, tokensAfter } = await compact(plan, ports, {
  model,
  onProgress: (progress) => console.log(progress.phase),
}).catch((error: unknown) => {
  if (!(error instanceof ModelError)) throw error;
  console.log(`${error.code}, trying again helps: ${error.retryHelps}`);
  return compact(plan, ports);
});
console.log(`${tokensBefore} → ${tokensAfter} tokens, written by ${written.source}`);

await simulator.close();
