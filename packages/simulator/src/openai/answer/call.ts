import type { Answer } from "../../server/delivery.ts";
import type { LogEntry } from "../../server/request-log.ts";
import type { OpenAiRequest } from "../request.ts";
import type { CatalogModel } from "./catalog.ts";

export type Headers = Readonly<Record<string, string>>;

/** Name of a subagent of codex that only summarizes the conversation. */
export const COMPACT_SUBAGENT = "compact";

/** A call that asks the model for an answer, with its known model. */
export interface OpenAiCall {
  readonly request: OpenAiRequest;
  readonly model: CatalogModel;
  /** Name of the subagent that makes the call. Only codex names it, in the header `x-openai-subagent`. */
  readonly subagent: string | undefined;
  readonly entry: LogEntry;
  /** Headers that every answer has. */
  readonly identity: Headers;
}

/** Answers all calls of one endpoint. */
export interface EndpointAnswers {
  answer(call: OpenAiCall): Answer;
}
