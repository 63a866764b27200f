// A long conversation becomes a short one: no model, no network. What is left is ready to be sent.
import { randomUUID } from "node:crypto";
import { compact, planCompaction, rebuild } from "@longhaul/core/compaction";
import { flatten } from "@longhaul/core/request";
import { conversation } from "./conversation.ts";

const plan = planCompaction({ entries: conversation }, { keepRecentTokens: 5_000 });
console.log(`${plan.summarised.length} entries would be summarised, ${plan.kept.length} kept`);

const compaction = await compact(plan, { now: () => new Date(), newUuid: randomUUID });
console.log(`${compaction.tokensBefore} → ${compaction.tokensAfter} tokens`);

const messages = flatten(rebuild(compaction));
console.log(`${messages.length} messages to send; the first begins:`);
console.log(String(messages[0]?.content).slice(0, 120));
