import { claudeFeatures, findModel } from "@longhaul/core/measure";
import type { ApiRequest } from "@longhaul/core/messages";
import type { CheckOptions } from "@longhaul/core/request";
import { checkRequest, MAX_MEDIA, MAX_MEDIA_SMALL_WINDOW } from "@longhaul/core/request";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../../../../test/support/arbitrary-request.ts";
import { arbitraryDamage } from "../../../../../test/support/request-damage.ts";
import { arbitrarySoundRequest, type RequestBody } from "../../../../../test/support/sound-request.ts";
import type { ApiVersion } from "../../../../core/src/messages/message.ts";
import { ApiRefusal } from "../../exchange.ts";
import type { Switches } from "../request.ts";
import { KNOWN_BETAS } from "../wording/betas.ts";
import { modelNamed, SWITCHES } from "./rule-bench.case.ts";
import { validate } from "./validate.ts";

const RUNS = { numRuns: 1_500 };

/**
 * Models of the generated requests. If a model does not support the thinking type `enabled`, its requests do
 * not set `thinking`.
 */
const MODELS = ["claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5", "claude-opus-5-5"];

const TRAITS = Object.fromEntries(
  MODELS.map((model) => {
    const { prefill, systemMessages } = claudeFeatures(model);
    return [model, { prefill, systemMessages }];
  }),
);

interface Setting {
  readonly version: ApiVersion;
  readonly isMerged: boolean;
  readonly requireTools: boolean;
}

const setting: fc.Arbitrary<Setting> = fc.record({
  version: fc.constantFrom<ApiVersion>("2023-06-01", "2026-10-21"),
  isMerged: fc.boolean(),
  requireTools: fc.boolean(),
});

/**
 * Returns the text of the simulator's refusal, or undefined for an accepted request. Enables every beta,
 * because the request checker does not check betas.
 */
function refusalOf(body: object, { version, isMerged, requireTools }: Setting): string | undefined {
  const switches: Switches = {
    ...SWITCHES,
    consecutiveRoles: isMerged ? "merged" : "refused",
    requireTools,
  };
  const request = body as RequestBody;
  const model = modelNamed(request.model);
  const call = { endpoint: "messages", bytes: 0, client: {}, workspace: "w", startedAt: 0 } as const;
  try {
    validate({ ...call, version, betas: KNOWN_BETAS, body: request, model }, switches);
  } catch (error) {
    if (error instanceof ApiRefusal) return error.message;
    throw error;
  }
  return undefined;
}

function optionsFor(body: object, { version, isMerged, requireTools }: Setting): CheckOptions {
  const window = findModel((body as RequestBody).model).windowTokens;
  return {
    apiVersion: version,
    consecutiveRoles: isMerged ? "accepted" : "reported",
    requireTools,
    maxMedia: window <= 200_000 ? MAX_MEDIA_SMALL_WINDOW : MAX_MEDIA,
  };
}

function expectAgreement(body: object, chosen: Setting): void {
  const checked = checkRequest(body as unknown as ApiRequest, optionsFor(body, chosen));
  // The API accepts inputs that do not fit a tool's schema.
  const findings = checked.findings.filter(({ rule }) => rule !== "tool-input-schema");
  const refusal = refusalOf(body, chosen);
  const verdicts = { checker: findings.map(({ rule, path }) => `${rule} ${path}`), simulator: refusal };
  if (findings.length > 0 !== (refusal !== undefined))
    expect.fail(JSON.stringify({ verdicts, body }, null, 1));
}

/**
 * Removes the field `thinking` if the model does not support the type `enabled`. The request checker would
 * not report this field, because it checks only messages.
 */
function withSupportedThinking(body: RequestBody): RequestBody {
  if (claudeFeatures(body.model).thinkingModes.includes("enabled")) return body;
  const { thinking: _, ...rest } = body;
  return rest as RequestBody;
}

/** Adds the fields that every call needs and that the generator of invalid requests omits. */
function completed(request: ApiRequest): RequestBody {
  const body = { model: "claude-opus-4-6", max_tokens: 4_096, ...request };
  return withSupportedThinking(JSON.parse(JSON.stringify(body)));
}

/**
 * The generated requests contain no unknown block types or fields, because the two sides treat these
 * differently. The request checker accepts unknown types and fields, because a provider may add new ones at
 * any time. The simulator refuses them, like the API. It also refuses images that are cut off, which the checker
 * does not notice.
 */
const COMMON_KINDS = { unknownKinds: false, brokenImages: false } as const;

describe("agreement of the simulator and the request checker", () => {
  it("the simulator and the request checker accept every valid request, under both API versions", () => {
    fc.assert(
      fc.property(arbitrarySoundRequest(TRAITS), setting, (body, chosen) => {
        const open = { ...chosen, requireTools: false };
        expect(refusalOf(body, open)).toBeUndefined();
        const request = body as unknown as ApiRequest;
        const checked = checkRequest(request, optionsFor(body, open));
        expect(checked.findings).toEqual([]);
        expect(checked.request).toBe(request);
      }),
      RUNS,
    );
  });

  it("the simulator refuses a damaged request exactly if the request checker finds a problem", () => {
    fc.assert(
      fc.property(arbitrarySoundRequest(TRAITS), arbitraryDamage(3), setting, (body, damage, chosen) => {
        expectAgreement(withSupportedThinking(damage(body)), chosen);
      }),
      RUNS,
    );
  });

  it("the simulator refuses an arbitrary request exactly if the request checker finds a problem", () => {
    fc.assert(
      fc.property(arbitraryRequest(COMMON_KINDS), setting, (request, chosen) => {
        expectAgreement(completed(request), chosen);
      }),
      RUNS,
    );
  });

  it("the simulator accepts every request that the request checker could repair completely", () => {
    const damaged = fc
      .tuple(arbitrarySoundRequest(TRAITS), arbitraryDamage(3))
      .map(([body, damage]) => withSupportedThinking(damage(body)));
    const hopeless = arbitraryRequest(COMMON_KINDS).map(completed);
    fc.assert(
      fc.property(fc.oneof(damaged, hopeless), setting, (body, chosen) => {
        const options: CheckOptions = { ...optionsFor(body, chosen), prefill: "add-user-message" };
        const { request, findings } = checkRequest(body as unknown as ApiRequest, options);
        if (findings.some(({ action }) => action === "reported")) return;
        const refusal = refusalOf(JSON.parse(JSON.stringify(request)), chosen);
        if (refusal !== undefined) expect.fail(JSON.stringify({ refusal, findings, body, request }, null, 1));
      }),
      RUNS,
    );
  });
});
