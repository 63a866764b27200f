// How many tokens is this? Nothing is installed or called for it, and it is fast enough for every turn.

import { estimateTokens, findModel } from "@longhaul/core";
import { ContextMeter, computeThresholds, contextTokens, windowState } from "@longhaul/core/measure";
import { conversation } from "./conversation.ts";

console.log("a text:", estimateTokens("The quick brown fox jumps over the lazy dog."), "tokens");
console.log("Chinese:", estimateTokens("敏捷的棕色狐狸跳过了懒狗。"), "tokens");

// A whole conversation: what the provider last reported, and an estimate of what came since.
console.log("a conversation:", contextTokens(conversation), "tokens");

// In an agent's loop: one meter, fed with what is new. A turn costs what is new, not the whole.
const meter = new ContextMeter();
for (const entry of conversation) meter.add(entry);
const thresholds = computeThresholds(findModel("claude-sonnet-4-5"));
const { percentLeft, isAboveAutoCompactThreshold } = windowState(meter.size().tokens, thresholds);
console.log(`${percentLeft}% left; compact now: ${isAboveAutoCompactThreshold}`);
