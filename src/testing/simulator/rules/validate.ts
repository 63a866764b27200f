import { MAX_REQUEST_BYTES } from "../../../conversation/check/limits.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { SimulatedRequest, Switches } from "../exchange.ts";
import { refuse } from "../wording/refuse.ts";
import { checkCompactionRequest, checkContextEdits, checkThread } from "./fields/context.ts";
import { recordsField } from "./fields/readers.ts";
import { checkMaxTokens, checkSampling } from "./fields/sampling-and-length.ts";
import { checkSystem } from "./fields/system.ts";
import { checkThinking } from "./fields/thinking.ts";
import { checkTools } from "./fields/tools.ts";
import { checkCacheMarks } from "./messages/cache-marks.ts";
import { checkCompactionBlocks, checkSomethingToSummarise } from "./messages/compaction-blocks.ts";
import { checkContents } from "./messages/contents.ts";
import { readMessages, readTurns } from "./messages/conversation.ts";
import { checkMediaCount, checkToolsGiven } from "./messages/counts.ts";
import {
  checkEnd,
  checkLastBlocks,
  checkOpening,
  checkSystemPlacement,
  checkThinkingFirst,
} from "./messages/order.ts";
import { checkServerTools } from "./messages/server-tools.ts";
import { checkToolPairs } from "./messages/tool-pairs.ts";
import { checkShape } from "./shape/body-shape.ts";
import { Inspection } from "./shape/shape-check.ts";

/**
 * Refuses what the API refuses, by throwing an `ApiRefusal`. Which fault the API names when there are
 * several is not documented. Here: the size; the shape of the whole body; the model; the fields of the
 * request; then the messages, first what each of them holds, then how they follow on each other; and last
 * what is counted over all of it. Tokens, signatures and the state of threads are checked by other parts.
 */
export function validate(request: SimulatedRequest, switches: Switches): void {
  const { body, bytes, model } = request;
  if (bytes > MAX_REQUEST_BYTES) refuse("tooManyBytes");
  const inspection = new Inspection(request, switches);
  checkShape(inspection);
  if (model === undefined) refuse("modelUnknown", { model: String(body.model) });
  checkMaxTokens(body, model);
  checkSampling(body, model);
  checkThinking(request, model);
  checkTools(body, model);
  checkContextEdits(body, model);
  checkCompactionRequest(request, model);
  checkThread(body, switches);
  checkSystem(body);
  checkMessages(recordsField(body, "messages"), inspection);
}

function checkMessages(sent: readonly JsonRecord[], inspection: Inspection): void {
  const messages = readMessages(sent);
  checkSomethingToSummarise(messages, inspection);
  checkCompactionBlocks(messages, inspection);
  checkOpening(messages);
  checkContents(messages, inspection);
  const turns = readTurns(messages, inspection);
  checkSystemPlacement(turns);
  checkServerTools(messages, inspection);
  checkToolPairs(turns, inspection);
  checkLastBlocks(turns);
  checkThinkingFirst(turns, inspection);
  checkEnd(turns, inspection);
  checkToolsGiven(messages, inspection);
  checkMediaCount(messages, inspection);
  checkCacheMarks(messages, inspection);
}
