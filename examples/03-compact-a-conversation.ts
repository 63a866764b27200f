// Compacts a long conversation without a model or network. The result is ready to send.
import { randomUUID } from "node:crypto";
import { compact, planCompaction, rebuild } from "@longhaul/core/compaction";
import { flatten } from "@longhaul/core/request";
import { conversation } from "./conversation.ts";

const plan = planCompaction({ entries: conversation }, { keepRecentTokens: 5_000 });
console.log(`${plan.summarized.length} entries would be summarized, ${plan.kept.length} kept`);

const compaction = await compact(plan, { now: () => new Date(), newUuid: randomUUID });
console.log(`${compaction.tokensBefore} → ${compaction.tokensAfter} tokens`);

const messages = flatten(rebuild(compaction));
console.log(`${messages.length} messages to send; the first begins:`);
console.log(String(messages[0]?.content).slice(0, 120));
