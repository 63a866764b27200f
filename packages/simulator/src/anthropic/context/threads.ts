import { field, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import { withoutMarks } from "../../prompt/block-equality.ts";
import type { SimulatedRequest, Switches } from "../request.ts";
import { BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";
import { readConversation } from "./conversation.ts";

/** A thread expires this long after its last response. */
export const THREAD_LIFETIME_MS = 300_000;

/**
 * Maximum number of stored threads. On a clock that does not move, threads never expire. Each response stores
 * one, so the newest 1,000 responses can be continued.
 */
const MAX_THREADS = 1_000;

/**
 * Fields that a thread keeps from the request that created it. A request that continues the thread must not
 * send them.
 */
const KEPT_FIELDS = ["system", "tools"] as const;
/** Fields that every request of a thread must send with the same values. */
const FIXED_FIELDS = ["model", "output_config"] as const;

/**
 * One request on a thread. The server ends it with `store`, or with `release` if there is no reply to store.
 */
export interface ThreadTurn {
  /**
   * The body of an equivalent request without a thread. It contains all messages, the system prompt and the
   * tools.
   */
  readonly body: JsonRecord;
  store(id: string, reply: StoredReply): void;
  release(): void;
}

interface StoredReply {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  readonly at: number;
}

interface StoredThread {
  readonly workspace: string;
  readonly messages: readonly ApiMessage[];
  /** The values of the kept and fixed fields. */
  readonly fields: JsonRecord;
  readonly lastUsedAt: number;
  state: "open" | "in-flight" | "continued";
}

/** Conversations that the provider stores for clients that send only new messages. */
export class Threads {
  readonly #threads = new Map<string, StoredThread>();

  /**
   * Finds or creates the thread of a request. Returns undefined if the request has no thread, or a thread
   * that the rules refuse.
   */
  open(request: SimulatedRequest, accepted: Switches["threads"]): ThreadTurn | undefined {
    const { thread } = request.body;
    if (thread === undefined || thread === null) return undefined;
    if (accepted === "refused" || !request.betas.has(BETAS.threads)) return undefined;
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
    if (thread === undefined || thread.workspace !== workspace) return refuse("threadNotFound", { id });
    if (thread.state === "continued") refuse("threadContinued", { id });
    if (thread.state === "in-flight") refuse("threadInFlight", { id });
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
        this.#forgetSurplus();
      },
      release: () => {
        if (previous?.state === "in-flight") previous.state = "open";
      },
    };
  }

  #forgetSurplus(): void {
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > MAX_THREADS && oldest !== undefined) this.#threads.delete(oldest);
  }

  #forgetExpired(now: number): void {
    for (const [id, thread] of this.#threads) {
      if (now - thread.lastUsedAt > THREAD_LIFETIME_MS) this.#threads.delete(id);
    }
  }
}

/**
 * Builds the body of an equivalent request without a thread. Returns an invalid list of messages unchanged,
 * because the rules refuse it later.
 */
function continued(previous: StoredThread, body: JsonRecord): JsonRecord {
  const given = KEPT_FIELDS.filter((name) => body[name] !== undefined);
  const differing = [...FIXED_FIELDS, ...given].filter((name) => !isSame(body[name], previous.fields[name]));
  if (differing.length > 0) refuse("threadDiffers", { fields: differing.join(", ") });
  const [repeated] = given;
  if (repeated !== undefined) refuse("threadRepeats", { field: repeated });
  const kept = KEPT_FIELDS.filter((name) => previous.fields[name] !== undefined);
  const fields = Object.fromEntries(kept.map((name) => [name, previous.fields[name]]));
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  return { ...body, ...fields, messages: [...previous.messages, ...messages] };
}

function threadFields(body: JsonRecord): JsonRecord {
  return Object.fromEntries([...KEPT_FIELDS, ...FIXED_FIELDS].map((name) => [name, body[name]]));
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(withoutMarks(one)) === JSON.stringify(withoutMarks(other));

/**
 * Removes cache marks from a stored message, because they belong to the request that set them. Otherwise, a
 * thread would soon exceed the limit of marks.
 */
const withoutMessageMarks = (message: ApiMessage): ApiMessage => withoutMarks(message) as ApiMessage;
