// Counts tokens without a tokenizer and without a call, fast enough for every turn.

import { estimateTokens, findModel } from "@longhaul/core";
import { ContextMeter, computeThresholds, contextTokens, windowState } from "@longhaul/core/measure";
import { conversation } from "./conversation.ts";

console.log("a text:", estimateTokens("The quick brown fox jumps over the lazy dog."), "tokens");
console.log("Chinese:", estimateTokens("敏捷的棕色狐狸跳过了懒狗。"), "tokens");

// For a whole conversation, adds an estimate of the newer messages to the last usage that the provider
// reported.
console.log("a conversation:", contextTokens(conversation), "tokens");

// An agent loop passes only the new messages to one meter, so each turn costs only the new part.
const meter = new ContextMeter();
for (const entry of conversation) meter.add(entry);
const thresholds = computeThresholds(findModel("claude-sonnet-4-5"));
const { percentLeft, isAboveAutoCompactThreshold } = windowState(meter.size().tokens, thresholds);
console.log(`${percentLeft}% left; compact now: ${isAboveAutoCompactThreshold}`);
