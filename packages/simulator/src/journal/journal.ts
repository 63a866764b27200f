import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { LonghaulError } from "@longhaul/core/errors";
import type { JsonRecord } from "@longhaul/core/internal/messages";
import { parseScript } from "../behaviors/script-file.ts";
import type { ScriptedTurn } from "../behaviors/scripted.ts";
import { strangerIn } from "../server/access.ts";
import { BodyProblem, receiveBody, TooLargeForTheNetwork } from "../server/body.ts";
import { parseFaults } from "../server/fault-file.ts";
import type { Fault, FaultConditions } from "../server/faults.ts";
import type { RequestLog } from "../server/request-log.ts";
import { JournalError } from "./journal-error.ts";
import { invalidPage, oneRequest, requestPage } from "./pages.ts";

/** Path of the journal. No provider has a path that begins with two underscores. */
const JOURNAL_PATH = "/__longhaul";

/** Limit for a posted script. Large tool results in a script stay far below it. */
const MAX_BODY_BYTES = 16_000_000;

/** The parts of a simulator that the journal controls. */
export interface Controls {
  readonly requests: RequestLog;
  reply(...turns: readonly ScriptedTurn[]): void;
  /** Number of scripted turns that are left. */
  turnsLeft(): number;
  fail(fault: Fault | number, conditions?: FaultConditions): void;
  clearFaults(): void;
  reset(): void;
}

/** A call of the journal. */
interface JournalCall {
  readonly controls: Controls;
  readonly query: URLSearchParams;
  /** Last part of the path, if the route has a part that varies. */
  readonly id: string;
  /** Reads the body as JSON. */
  readonly body: () => Promise<unknown>;
}

type Handler = (call: JournalCall) => JsonRecord | Promise<JsonRecord>;

/** Handlers by path and method. `{index}` matches any last part. */
const ROUTES: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  "": { GET: () => ({ endpoints: overview() }) },
  "/requests": { GET: ({ controls, query }) => requestPage(controls.requests, query) },
  "/requests/invalid": { GET: ({ controls, query }) => invalidPage(controls.requests, query) },
  "/requests/{index}": { GET: ({ controls, id }) => oneRequest(controls.requests, id) },
  "/totals": {
    GET: ({ controls: { requests } }) => ({ ...requests.totals, invalid: requests.invalidCount }),
  },
  "/script": {
    GET: ({ controls }) => ({ turnsLeft: controls.turnsLeft() }),
    POST: async ({ controls, body }) => {
      controls.reply(...parseScript(await body()));
      return { turnsLeft: controls.turnsLeft() };
    },
  },
  "/faults": {
    POST: async ({ controls, body }) => {
      const faults = parseFaults(await body());
      for (const { fault, conditions } of faults) controls.fail(fault, conditions);
      return { added: faults.length };
    },
    DELETE: ({ controls }) => {
      controls.clearFaults();
      return { removed: true };
    },
  },
  "/reset": {
    POST: ({ controls }) => {
      controls.reset();
      return { reset: true };
    },
  },
};

const overview = (): readonly string[] =>
  Object.entries(ROUTES).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${JOURNAL_PATH}${path}`),
  );

export const isForJournal = ({ url = "" }: IncomingMessage): boolean =>
  url === JOURNAL_PATH || url.startsWith(`${JOURNAL_PATH}/`) || url.startsWith(`${JOURNAL_PATH}?`);

/**
 * Answers requests about the simulator itself, so that a test in another process or another language can
 * control it and check the requests. The log does not contain these requests, and faults do not affect them.
 */
export async function serveJournal(
  request: IncomingMessage,
  response: ServerResponse,
  controls: Controls,
): Promise<void> {
  try {
    say(response, 200, await answer(request, controls));
  } catch (error) {
    const { status, message, remedy, headers } = refusalFor(error);
    say(response, status, { error: { message, remedy } }, headers);
  }
}

const FROM_THIS_MACHINE =
  "Call the journal from a program on this machine, at http://127.0.0.1 with the simulator's port.";

async function answer(request: IncomingMessage, controls: Controls): Promise<JsonRecord> {
  const stranger = strangerIn(request.headers);
  if (stranger !== undefined) throw new JournalError(403, stranger, FROM_THIS_MACHINE);
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  // The address may lead out of the journal, as `/__longhaul/../v1` does.
  const isInside = pathname === JOURNAL_PATH || pathname.startsWith(`${JOURNAL_PATH}/`);
  const path = pathname.slice(JOURNAL_PATH.length).replace(/\/$/, "");
  const id = path.slice(path.lastIndexOf("/") + 1);
  const isIndex = path === `/requests/${id}` && /^\d+$/.test(id);
  const methods = ROUTES[isIndex ? "/requests/{index}" : path];
  if (!isInside || methods === undefined || path.includes("{"))
    throw new JournalError(404, `Unknown path ${pathname}.`, `Use one of: ${overview().join(", ")}.`);
  const handle = methods[request.method ?? "GET"];
  if (handle === undefined) {
    const allow = Object.keys(methods).join(", ");
    throw new JournalError(405, `${request.method} is not possible here.`, `Use ${allow}.`, { allow });
  }
  return handle({ controls, query: searchParams, id, body: () => jsonBody(request) });
}

async function jsonBody(request: IncomingMessage): Promise<unknown> {
  const { content } = await receiveBody(request, MAX_BODY_BYTES);
  if (!isUtf8(content))
    throw new JournalError(400, "The body is not valid UTF-8.", "Send the body as UTF-8.");
  try {
    return JSON.parse(content.toString());
  } catch (error) {
    const why = `The body is not valid JSON: ${(error as Error).message}`;
    throw new JournalError(400, why, "Send the body as JSON.");
  }
}

function refusalFor(error: unknown): JournalError {
  if (error instanceof JournalError) return error;
  if (error instanceof LonghaulError) return new JournalError(400, error.message, error.remedy ?? "");
  if (error instanceof TooLargeForTheNetwork)
    return new JournalError(
      413,
      `The body exceeds ${MAX_BODY_BYTES} bytes.`,
      "Send several smaller scripts.",
    );
  if (error instanceof BodyProblem)
    return new JournalError(
      400,
      "The journal cannot decompress the body.",
      "Send the body without compression, or with gzip, deflate or br.",
    );
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new JournalError(500, `The journal failed: ${reason}`, "Report this error.");
}

function say(
  response: ServerResponse,
  status: number,
  body: JsonRecord,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(text);
}
