import type { JsonRecord } from "@longhaul/core/internal/messages";
import { integer, list, oneOf } from "../../../shape/shape-check.ts";
import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { type Check, Inspection } from "../shape/inspection.ts";
import { type Body, checkFields, metadata } from "./body-shape.ts";
import { inputItem } from "./item-shapes.ts";

/** Maximum items of a page. The API enforces it: openai/openai-agents-python#4721. */
const LARGEST_PAGE = 100;

/**
 * Sources conflict on the number of items: the types of the SDK say at most 20 in one call, but the Agents SDK of
 * OpenAI (0.20.0) adds all items of a run at once. No answer about the limit is captured, so there is none.
 */
const items: Check = list(inputItem, { of: "input items" });

interface StoredBody {
  readonly fields: Body;
  /** Field without which the call has no purpose. Null is a value of it. */
  readonly required?: string;
}

/** Bodies of calls that change a conversation, by the path after `/v1/`. A star matches an id. */
const BODIES: ReadonlyMap<string, StoredBody> = new Map([
  [
    "conversations",
    {
      fields: new Map([
        ["items", items],
        ["metadata", metadata],
      ]),
    },
  ],
  ["conversations/*", { fields: new Map([["metadata", metadata]]), required: "metadata" }],
  ["conversations/*/items", { fields: new Map([["items", items]]), required: "items" }],
]);

/** Parameters of a call that reads stored objects. */
const PARAMETERS: ReadonlyMap<string, Check> = new Map([
  ["limit", integer(1, LARGEST_PAGE)],
  ["order", oneOf("asc", "desc")],
  ["starting_after", integer(0)],
]);

/**
 * Throws an `ApiRefusal` for the body of a call that changes a conversation. It is not documented whether the
 * API checks pairs of calls and outputs before it asks a model, so only shapes are checked.
 */
export function validateStoredBody(pattern: string, body: JsonRecord, switches: OpenAiSwitches): void {
  const expected = BODIES.get(pattern);
  if (expected === undefined) return;
  const inspection = new Inspection(asRequest(body), switches);
  const { required, fields } = expected;
  if (required !== undefined && body[required] === undefined) {
    inspection.enter(required);
    inspection.refuse({ kind: "missing" }, undefined);
  }
  checkFields(fields, inspection);
}

/** Throws an `ApiRefusal` for parameters of an address that have a wrong type or a value out of range. */
export function validateParameters(query: URLSearchParams, switches: OpenAiSwitches): void {
  const inspection = new Inspection(asRequest({}), switches);
  for (const [name, check] of PARAMETERS) {
    const text = query.get(name);
    if (text === null) continue;
    inspection.enter(name);
    check(/^-?\d+$/.test(text) ? Number(text) : text, inspection);
    inspection.leave();
  }
}

/** A request without a model. Stored objects belong to the Responses API, so they share its texts. */
const asRequest = (body: JsonRecord): OpenAiRequest => ({
  endpoint: "responses",
  body,
  bytes: 0,
  model: undefined,
  earlier: [],
  workspace: "",
  startedAt: 0,
});
