import { field, listField, stringField } from "../../../conversation/fields.ts";
import type { ApiMessage } from "../../../conversation/message.ts";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { ApiRefusal, type ReplyBlock, type SimulatedRequest, type Switches } from "../exchange.ts";
import { withoutMarks } from "../prompt/block-key.ts";
import { readConversation } from "./conversation.ts";
import { readEdits } from "./edits.ts";
import { BETAS, invalidRequest, UNVERIFIED, VERIFIED } from "./texts.ts";

/** A thread is forgotten this long after its last response. */
export const THREAD_LIFETIME_MS = 300_000;

/** Taken from the request that created the thread; one that continues it must not send them. */
const KEPT_FIELDS = ["system", "tools"] as const;
/** Sent with every request of a thread, and the same in all of them. */
const FIXED_FIELDS = ["model", "output_config"] as const;

/** One request on a thread. It ends with `store`, or with `release` when there is no reply to keep. */
export interface ThreadTurn {
  /** As it would have been sent without the thread: with all messages, system and tools. */
  readonly body: JsonRecord;
  store(id: string, reply: StoredReply): void;
  release(): void;
}

export interface StoredReply {
  readonly content: readonly ReplyBlock[];
  readonly stopReason: string;
  readonly at: number;
}

interface StoredThread {
  readonly workspace: string;
  readonly messages: readonly ApiMessage[];
  /** The fields that the thread keeps or fixes, as they were sent. */
  readonly fields: JsonRecord;
  readonly lastUsedAt: number;
  state: "open" | "in-flight" | "continued";
}

/** The conversations that the provider keeps for clients that send only what is new. */
export class Threads {
  readonly #threads = new Map<string, StoredThread>();

  /** Undefined for a request that has nothing to do with threads. */
  open(request: SimulatedRequest, accepted: Switches["threads"]): ThreadTurn | undefined {
    const { thread } = request.body;
    if (thread === undefined || thread === null) return undefined;
    refuseUnsupported(request, accepted);
    this.#forgetExpired(request.startedAt);
    const previousId = stringField(thread, "previous_message_id");
    if (field(thread, "type") !== "continue" || previousId === undefined) {
      return this.#turn(request, request.body, undefined);
    }
    const previous = this.#find(previousId, request);
    const body = continued(previous, request.body);
    previous.state = "in-flight";
    return this.#turn(request, body, previous);
  }

  #find(id: string, { workspace }: SimulatedRequest): StoredThread {
    const thread = this.#threads.get(id);
    if (thread === undefined || thread.workspace !== workspace) {
      const details = { error_code: "thread_not_found" };
      throw new ApiRefusal(404, "not_found_error", UNVERIFIED.threadNotFound(id), { details });
    }
    if (thread.state === "continued") {
      throw invalidRequest(UNVERIFIED.threadContinued(id), "thread_already_continued");
    }
    if (thread.state === "in-flight") {
      throw invalidRequest(UNVERIFIED.threadInFlight(id), "thread_continue_in_flight");
    }
    return thread;
  }

  #turn(request: SimulatedRequest, body: JsonRecord, previous: StoredThread | undefined): ThreadTurn {
    return {
      body,
      store: (id, { content, stopReason, at }) => {
        if (previous !== undefined) previous.state = stopReason === "refusal" ? "open" : "continued";
        if (stopReason === "refusal") return;
        const known = previous?.messages ?? [];
        const sent = readConversation(request.body).messages.map(withoutMessageMarks);
        const reply: ApiMessage = { role: "assistant", content };
        this.#threads.set(id, {
          workspace: request.workspace,
          messages: [...known, ...sent, reply],
          fields: previous?.fields ?? threadFields(request.body),
          lastUsedAt: at,
          state: "open",
        });
      },
      release: () => {
        if (previous?.state === "in-flight") previous.state = "open";
      },
    };
  }

  #forgetExpired(now: number): void {
    for (const [id, thread] of this.#threads) {
      if (now - thread.lastUsedAt > THREAD_LIFETIME_MS) this.#threads.delete(id);
    }
  }
}

function refuseUnsupported({ betas, body }: SimulatedRequest, accepted: Switches["threads"]): void {
  const unsupported = unsupportedFields(body);
  if (accepted === "refused" || unsupported.length > 0) {
    const more = unsupported.length === 0 ? {} : { unsupported };
    throw invalidRequest(UNVERIFIED.threadUnsupported(unsupported), "thread_unsupported_request", more);
  }
  if (!betas.has(BETAS.threads)) throw invalidRequest(VERIFIED.extraInput("thread"));
}

/** The thread holds the conversation as the client knows it, so nothing may rewrite it on the way. */
function unsupportedFields(body: JsonRecord): readonly string[] {
  const rewrites = body.compaction != null || readEdits(body).some((edit) => !keepsAllThinking(edit));
  const hasFallbacks = typeof body.fallbacks === "string" || listField(body, "fallbacks").length > 0;
  return [...(rewrites ? ["context_management"] : []), ...(hasFallbacks ? ["fallbacks"] : [])];
}

const keepsAllThinking = (edit: JsonRecord): boolean =>
  edit.type === "clear_thinking_20251015" && (edit.keep === "all" || field(edit.keep, "type") === "all");

function continued(previous: StoredThread, body: JsonRecord): JsonRecord {
  const given = KEPT_FIELDS.filter((name) => body[name] !== undefined);
  const differing = [...FIXED_FIELDS, ...given].filter((name) => !isSame(body[name], previous.fields[name]));
  if (differing.length > 0) {
    throw invalidRequest(UNVERIFIED.threadDiffers(differing), "thread_fingerprint_mismatch");
  }
  const [repeated] = given;
  if (repeated !== undefined) throw invalidRequest(UNVERIFIED.threadRepeats(repeated));
  const kept = KEPT_FIELDS.filter((name) => previous.fields[name] !== undefined);
  const fields = Object.fromEntries(kept.map((name) => [name, previous.fields[name]]));
  return { ...body, ...fields, messages: [...previous.messages, ...listField(body, "messages")] };
}

function threadFields(body: JsonRecord): JsonRecord {
  return Object.fromEntries([...KEPT_FIELDS, ...FIXED_FIELDS].map((name) => [name, body[name]]));
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(withoutMarks(one)) === JSON.stringify(withoutMarks(other));

/** Marks belong to the request that set them: kept, they would soon be more than a request may have. */
const withoutMessageMarks = (message: ApiMessage): ApiMessage => withoutMarks(message) as ApiMessage;
