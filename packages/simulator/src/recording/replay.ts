import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { strangerIn } from "../server/access.ts";
import { receiveBody } from "../server/body.ts";
import { type LocalServer, listen } from "../server/listen.ts";
import { describeDifference, differencesBetween, exactKeyOf, keyOf } from "./canonical.ts";
import type { RecordedAnswer, RecordedExchange, RecordedRequest } from "./exchange-record.ts";
import { refusesUpgrade, sendError, UPGRADE_REQUIRED } from "./provider-error.ts";
import { bodyFault, keyRemoverFor, MAX_BODY_BYTES, recordedRequest } from "./received-request.ts";
import { readRecording } from "./recording-file.ts";

export interface ReplayOptions {
  /** A recording of `startRecorder` or `longhaul sim --record`. */
  readonly file: string;
  /** Port of the server. Default: any free port. */
  readonly port?: number;
  /** Called after each request. */
  readonly onRequest?: (request: ReplayedRequest) => void;
}

/** A request to the replay. */
export interface ReplayedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Difference to the nearest recorded request. Undefined if the recording has an answer. */
  readonly problem: string | undefined;
}

/** A server that answers from a recording. */
export interface Replay extends LocalServer {
  /** Number of recorded requests. */
  readonly size: number;
  /** Number of recorded requests whose answers were never used. */
  readonly unused: number;
  /** Requests to which the recording has no answer, as texts that name the difference. Empty for a full match. */
  readonly unmatched: readonly string[];
  /** Number of damaged lines in the file. A crash while recording leaves one. */
  readonly damagedLines: number;
}

/**
 * Starts a server that answers requests from a recording. It never calls a provider. Requests match by method,
 * path, parameters and body. The nth equal request gets the nth recorded answer, and the last answer repeats.
 */
export async function startReplay(options: ReplayOptions): Promise<Replay> {
  const { exchanges, damagedLines } = await readRecording(options.file);
  const answers = new Answers(exchanges);
  const unmatched: string[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, problem } = await replay(request, response, answers);
    if (problem !== undefined && unmatched.length < MAX_UNMATCHED) unmatched.push(problem);
    const { method = "GET", url = "/" } = request;
    options.onRequest?.({ method, path: url.split("?")[0] ?? "/", status, problem });
  };
  const listening = await listen(options.port ?? 0, serve);
  return {
    ...listening,
    size: exchanges.length,
    damagedLines,
    unmatched,
    get unused(): number {
      return answers.unused;
    },
  };
}

/** Number of unmatched requests that the replay keeps. The first ones show the cause. */
const MAX_UNMATCHED = 100;

/** A recorded exchange and whether a client has got its answer. */
interface KnownExchange {
  readonly exchange: RecordedExchange;
  isUsed: boolean;
}

/** The answers of a recording, by request. */
class Answers {
  readonly #byKey = new Map<string, KnownExchange[]>();
  readonly #exchanges: readonly RecordedExchange[];

  constructor(exchanges: readonly RecordedExchange[]) {
    this.#exchanges = exchanges;
    for (const exchange of exchanges) {
      const key = keyOf(exchange.request);
      const equal = this.#byKey.get(key);
      const known = { exchange, isUsed: false };
      if (equal === undefined) this.#byKey.set(key, [known]);
      else equal.push(known);
    }
  }

  get unused(): number {
    return [...this.#byKey.values()].flat().filter(({ isUsed }) => !isUsed).length;
  }

  next(request: RecordedRequest): RecordedAnswer | undefined {
    const equal = this.#byKey.get(keyOf(request)) ?? [];
    const identical = equal.length > 1 ? identicalTo(request, equal) : [];
    // Requests may differ only in a date that matters, such as the question for the weather of a day.
    const candidates = identical.length > 0 ? identical : equal;
    const next = candidates.find(({ isUsed }) => !isUsed) ?? candidates.at(-1);
    if (next === undefined) return undefined;
    next.isUsed = true;
    return next.exchange.answer;
  }

  /** Explains why the recording has no answer. */
  explain(request: RecordedRequest): string {
    const name = `${request.method} ${request.path}`;
    const same = this.#exchanges.filter(
      ({ request: { method, path } }) => method === request.method && path === request.path,
    );
    const known = new Set(this.#exchanges.map(({ request: { method, path } }) => `${method} ${path}`));
    if (same.length === 0)
      return `The recording has no request ${name}. It has: ${[...known].join(", ") || "no requests"}.`;
    return `The recording has no answer to this request ${name}. ${this.#nearest(same, request)}`;
  }

  #nearest(same: readonly RecordedExchange[], sent: RecordedRequest): string {
    const compared = same.map(({ request }) => ({
      number: this.#exchanges.findIndex((exchange) => exchange.request === request) + 1,
      differences: [
        ...differencesBetween(request.query, sent.query).map((one) => ({ ...one, path: "the parameters" })),
        ...differencesBetween(bodyOf(request), bodyOf(sent)),
      ],
    }));
    const [nearest] = compared.sort((one, other) => one.differences.length - other.differences.length);
    const { number = 0, differences = [] } = nearest ?? {};
    const shown = differences.slice(0, SHOWN_DIFFERENCES).map(describeDifference).join("; ");
    const more = differences.length - SHOWN_DIFFERENCES;
    return `The nearest recorded request is number ${number}. It differs at ${shown}${more > 0 ? `; and ${more} more` : ""}.`;
  }
}

function identicalTo(request: RecordedRequest, equal: readonly KnownExchange[]): readonly KnownExchange[] {
  const key = exactKeyOf(request);
  return equal.filter(({ exchange }) => exactKeyOf(exchange.request) === key);
}

const bodyOf = ({ json, text }: RecordedRequest): unknown => (json === undefined ? text : json);

/** Differences in a message. */
const SHOWN_DIFFERENCES = 3;

async function replay(
  request: IncomingMessage,
  response: ServerResponse,
  answers: Answers,
): Promise<Pick<ReplayedRequest, "status" | "problem">> {
  const refuse = (
    status: number,
    code: string,
    problem: string,
  ): Pick<ReplayedRequest, "status" | "problem"> => {
    sendError(request, response, { status, code, message: problem });
    return { status, problem };
  };
  const stranger = strangerIn(request.headers);
  if (stranger !== undefined) return refuse(403, "permission_error", stranger);
  if (refusesUpgrade(request, response)) return { status: UPGRADE_REQUIRED, problem: undefined };
  let content: Buffer;
  try {
    ({ content } = await receiveBody(request, MAX_BODY_BYTES));
  } catch (error) {
    return refuse(400, "invalid_request_error", `The replay cannot read the body: ${bodyFault(error)}`);
  }
  const received = recordedRequest(request, content, keyRemoverFor(request));
  const answer = answers.next(received);
  if (answer === undefined) return refuse(404, "not_found_error", answers.explain(received));
  await say(answer, response);
  return { status: answer.status, problem: undefined };
}

async function say(
  { status, headers, text = "", base64, cut }: RecordedAnswer,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, headers);
  const pieces = base64 === undefined ? piecesOf(text, headers) : [Buffer.from(base64, "base64")];
  for (const piece of pieces) {
    if (response.destroyed) return;
    // Each event leaves on its own, as in the recorded stream.
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    await setImmediate();
  }
  if (cut) response.destroy();
  else response.end();
}

/** Splits a stream into its events. Any other text is one piece. */
function piecesOf(text: string, headers: RecordedAnswer["headers"]): readonly string[] {
  if (text === "") return [];
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  return isStream ? text.split(/(?<=\r?\n\r?\n)/) : [text];
}
