import { checkChatRequest, checkResponsesRequest, type OpenAiCheckOptions } from "@longhaul/openai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type GeneratedBody,
  type OpenAiTraits,
  soundChat,
  soundResponses,
} from "../../../../../test/support/openai-bodies.ts";
import {
  CHAT_FAULTS,
  RESPONSES_FAULTS,
  withAnyChange,
  withFault,
} from "../../../../../test/support/openai-faults.ts";
import { ApiRefusal } from "../../exchange.ts";
import type { OpenAiEndpoint, OpenAiModel, OpenAiSwitches } from "../request.ts";
import { validate } from "./validate.ts";

const RUNS = { numRuns: 1_000 };

function model(id: string, efforts: readonly string[], acceptsImages = true): OpenAiModel {
  const sizes = { windowTokens: 400_000, maxOutputTokens: 32_000 };
  return { id, ...sizes, isReasoning: efforts.length > 0, efforts, acceptsImages, isRetired: false };
}

const MODELS: readonly OpenAiModel[] = [
  model("gpt-4.1", []),
  model("text-only", [], false),
  model("o4-mini", ["low", "medium", "high"]),
  model("gpt-5", ["minimal", "low", "medium", "high"]),
  model("gpt-5.2", ["none", "low", "medium", "high", "xhigh"]),
  model("gpt-5.5", ["none", "low", "medium", "high", "xhigh"]),
];

/** Accepts sealed content of other servers, because the generated bodies carry none of this simulator. */
const SWITCHES: OpenAiSwitches = { foreignReasoning: "accepted", unknownFields: "refused" };

/** Returns the text of the simulator's refusal, or undefined for an accepted request. */
function refusalOf(endpoint: OpenAiEndpoint, { body, earlier = [] }: GeneratedBody): string | undefined {
  const known = MODELS.find(({ id }) => id === body.model);
  const call = { endpoint, bytes: 0, workspace: "w", startedAt: 0 };
  try {
    validate({ ...call, body, model: known, earlier }, SWITCHES);
  } catch (error) {
    if (error instanceof ApiRefusal) return error.message;
    throw error;
  }
  return undefined;
}

function optionsFor({ body, earlier = [] }: GeneratedBody): OpenAiCheckOptions {
  const known = MODELS.find(({ id }) => id === body.model);
  if (known === undefined) return { earlier };
  const { isReasoning, efforts, acceptsImages, maxOutputTokens } = known;
  return { reasoningModel: isReasoning, efforts, acceptsImages, maxOutputTokens, earlier };
}

interface Side {
  readonly api: string;
  readonly endpoint: OpenAiEndpoint;
  readonly sound: (models: readonly OpenAiTraits[]) => fc.Arbitrary<GeneratedBody>;
  readonly check: typeof checkChatRequest;
  readonly faults: typeof CHAT_FAULTS;
}

const SIDES: readonly Side[] = [
  {
    api: "chat completions",
    endpoint: "chat_completions",
    sound: soundChat,
    check: checkChatRequest,
    faults: CHAT_FAULTS,
  },
  {
    api: "Responses",
    endpoint: "responses",
    sound: soundResponses,
    check: checkResponsesRequest,
    faults: RESPONSES_FAULTS,
  },
];

describe.each(SIDES)("agreement of the simulator and the checker of @longhaul/openai on $api", (side) => {
  const { endpoint, check, faults } = side;
  const sound = side.sound(MODELS);

  function expectAgreement(generated: GeneratedBody, what: string): void {
    const { findings } = check(generated.body, optionsFor(generated));
    const refusal = refusalOf(endpoint, generated);
    if (findings.length > 0 === (refusal !== undefined)) return;
    const verdicts = { checker: findings.map(({ rule, path }) => `${rule} ${path}`), simulator: refusal };
    expect.fail(JSON.stringify({ what, verdicts, ...generated }, null, 1));
  }

  it("both accept every sound request", () => {
    fc.assert(
      fc.property(sound, (generated) => {
        expect(refusalOf(endpoint, generated)).toBeUndefined();
        expect(check(generated.body, optionsFor(generated)).findings).toEqual([]);
      }),
      RUNS,
    );
  });

  it.each(faults.map((fault) => [fault.name, fault] as const))("both refuse %s", (_, fault) => {
    fc.assert(
      fc.property(withFault(sound, [fault]), (generated) => {
        expectAgreement(generated, fault.name);
        expect(refusalOf(endpoint, generated)).toBeDefined();
      }),
      { numRuns: 50 },
    );
  });

  it("both judge a body alike after a change at any place", () => {
    fc.assert(
      fc.property(withAnyChange(sound), (generated) => {
        // The two sides treat a body without a known model differently: the checker does not know the models.
        if (MODELS.some(({ id }) => id === generated.body.model)) expectAgreement(generated, "a change");
      }),
      RUNS,
    );
  });

  it("the simulator refuses a body with two faults exactly if the checker finds a problem", () => {
    const twice = fc.tuple(withFault(sound, faults), fc.constantFrom(...faults), fc.nat());
    fc.assert(
      fc.property(twice, ([{ body, model: traits, earlier, fault }, second, die]) => {
        const changed = structuredClone(body);
        second.plant(changed, die, traits);
        const sent = JSON.parse(JSON.stringify(changed));
        const generated = { body: sent, model: traits, ...(earlier && { earlier }) };
        expectAgreement(generated, `${fault.name}, ${second.name}`);
      }),
      RUNS,
    );
  });
});
