import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { Route } from "../../server/api.ts";
import type { Answer } from "../../server/delivery.ts";
import type { Ids } from "../../server/ids.ts";
import { refuse } from "../wording/refuse.ts";
import { inputItems, storedInputItem } from "./input-items.ts";
import { responseStream } from "./response-events.ts";
import { NOT_YET, type ResponseObject } from "./response-object.ts";
import type { ResponseStore, StoredConversation, StoredResponse } from "./response-store.ts";

/** A request for something that the API stores. */
export interface StoredCall {
  /** Path after `/v1/`, for example `responses/resp_1/input_items`. */
  readonly path: string;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: JsonRecord | undefined;
  readonly project: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds since 1970. */
  readonly now: number;
}

interface StoredParts {
  readonly store: ResponseStore;
  readonly ids: Ids;
}

/** Paths after `/v1/` with the methods that they allow. A star matches an id. */
const PATHS: readonly (readonly [path: string, methods: readonly string[]])[] = [
  ["responses/*", ["GET", "DELETE"]],
  ["responses/*/cancel", ["POST"]],
  ["responses/*/input_items", ["GET"]],
  ["conversations", ["POST"]],
  ["conversations/*", ["GET", "POST", "DELETE"]],
  ["conversations/*/items", ["GET", "POST"]],
  ["conversations/*/items/*", ["GET", "DELETE"]],
];

/** Finds the route of a stored response or conversation. The path comes without its version. */
export function findStoredRoute(path: string): Route | undefined {
  const names = path.split("/");
  if (names.includes("")) return undefined;
  const row = PATHS.find(([pattern]) => {
    const expected = pattern.split("/");
    return (
      expected.length === names.length && expected.every((one, index) => one === "*" || one === names[index])
    );
  });
  return row === undefined
    ? undefined
    : { endpoint: "stored_response", methods: row[1], id: names.join("/") };
}

/** Writes a path with a star in place of each id. */
export const patternOf = (path: string): string =>
  path
    .split("/")
    .map((name, index) => (index % 2 === 1 ? "*" : name))
    .join("/");

/** Answers requests for stored responses and conversations. */
export class StoredEndpoints {
  readonly #store: ResponseStore;
  readonly #ids: Ids;

  constructor({ store, ids }: StoredParts) {
    this.#store = store;
    this.#ids = ids;
  }

  answer(call: StoredCall): Answer {
    const [kind, id = "", part, itemId] = call.path.split("/");
    const json = (body: unknown): Answer => ({ kind: "json", status: 200, headers: call.headers, body });
    if (kind === "conversations") {
      if (id === "") return json(this.#create(call));
      if (part === undefined) return json(this.#conversation(call, id));
      return json(itemId === undefined ? this.#items(call, id) : this.#item(call, id, itemId));
    }
    const stored = this.#store.find(call.project, id) ?? refuse("responseUnknown", null, { id });
    if (part === "input_items") return json(page(stored.input, call.query));
    if (part === "cancel") return json(cancel(stored));
    if (call.method === "DELETE") {
      this.#store.delete(call.project, id);
      return json({ id, object: "response", deleted: true });
    }
    return call.query.get("stream") === "true" ? restream(stored, call) : json(poll(stored));
  }

  #create({ body = {}, project, now }: StoredCall): JsonRecord {
    const items = this.#newItems(body.items);
    const id = this.#ids.withPrefix("conv_", String(items.length));
    const conversation = { id, createdAt: now, metadata: body.metadata ?? {}, items };
    this.#store.addConversation(project, conversation);
    return conversationObject(conversation);
  }

  #conversation({ method, body, project }: StoredCall, id: string): JsonRecord {
    const conversation = this.#find(project, id);
    if (method === "DELETE") {
      this.#store.deleteConversation(project, id);
      return { id, object: "conversation.deleted", deleted: true };
    }
    if (method === "POST") conversation.metadata = body?.metadata ?? {};
    return conversationObject(conversation);
  }

  #items({ method, body, project, query }: StoredCall, id: string): JsonRecord {
    const conversation = this.#find(project, id);
    if (method === "GET") return page(conversation.items, query);
    const added = this.#newItems(body?.items);
    this.#store.extendConversation(project, conversation, added);
    return list(added, false);
  }

  #item({ method, project }: StoredCall, id: string, itemId: string): JsonRecord {
    const conversation = this.#find(project, id);
    const item = conversation.items.find((one) => one.id === itemId);
    if (item === undefined) return refuse("conversationItemUnknown", null, { id: itemId, conversation: id });
    if (method === "GET") return item;
    conversation.items = conversation.items.filter((one) => one !== item);
    return conversationObject(conversation);
  }

  #find(project: string, id: string): StoredConversation {
    return this.#store.conversation(project, id) ?? refuse("conversationUnknown", null, { id });
  }

  #newItems(items: unknown): readonly JsonRecord[] {
    const given = inputItems(items);
    return given.map((item) =>
      storedInputItem(item, (prefix) => this.#ids.withPrefix(`${prefix}_`, String(given.length))),
    );
  }
}

const conversationObject = ({ id, createdAt, metadata }: StoredConversation): JsonRecord => ({
  id,
  object: "conversation",
  created_at: createdAt,
  metadata,
});

/**
 * Returns a stored response. A response in the background is in progress at the first poll and complete at the
 * second, because the clock of the simulator may stand still. After its whole stream, it is complete at once.
 */
function poll(stored: StoredResponse): ResponseObject {
  const { response } = stored;
  if (response.background !== true) return response;
  if (stored.isCancelled) return { ...response, ...NOT_YET, status: "cancelled", output: [] };
  return stored.polls++ === 0 && !stored.isStreamEnded ? { ...response, ...NOT_YET, output: [] } : response;
}

/** Cancels a response in the background. A response that is complete stays complete. */
function cancel(stored: StoredResponse): ResponseObject {
  if (stored.response.background !== true) return refuse("notInBackground");
  if (stored.polls <= 1 && !stored.isStreamEnded) stored.isCancelled = true;
  return poll(stored);
}

/** Sends the events of a response again, from the one after `starting_after`. */
function restream(stored: StoredResponse, { query, headers }: StoredCall): Answer {
  if (stored.response.background !== true) refuse("notCreatedInBackground", "stream");
  if (!stored.isStreamed) refuse("notCreatedAsStream", "stream");
  const after = query.get("starting_after");
  return {
    kind: "stream",
    headers,
    ...responseStream(stored.response, {
      isQueued: true,
      reportsCompacting: false,
      obfuscates: query.get("include_obfuscation") !== "false",
      onEnd: () => {
        stored.isStreamEnded = true;
      },
      ...(after === null ? {} : { startingAfter: Number(after) }),
    }),
  };
}

const DEFAULT_PAGE = 20;

/** Returns one page of items: newest first unless the client asks for `asc`, from the item after `after`. */
function page(items: readonly JsonRecord[], query: URLSearchParams): JsonRecord {
  const ordered = query.get("order") === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const limit = Number(query.get("limit") ?? DEFAULT_PAGE);
  return list(ordered.slice(start, start + limit), start + limit < ordered.length);
}

const list = (data: readonly JsonRecord[], has_more: boolean): JsonRecord => ({
  object: "list",
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});
