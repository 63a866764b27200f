import assert from "node:assert/strict";
import type { ModelFailure } from "../../models/model-error.ts";
import { collect, comparableBlocks, failureOf, withBench, within } from "./bench.ts";
import { STANDARD_FAILURES } from "./expected.ts";
import {
  type ContractCase,
  type ContractSubject,
  FAILURE_SCENARIOS,
  type FailureScenario,
  type WireAnswer,
} from "./subject.ts";
import { serveWires } from "./wire-server.ts";

export function failureCases(subject: ContractSubject): readonly ContractCase[] {
  const recorded = FAILURE_SCENARIOS.flatMap((scenario) => {
    const wire = subject.wires[scenario];
    return wire === undefined ? [] : [failureCase(subject, scenario, wire)];
  });
  return [...recorded, unreachableCase(subject)];
}

function failureCase(subject: ContractSubject, scenario: FailureScenario, wire: WireAnswer): ContractCase {
  const expected = subject.failures?.[scenario] ?? STANDARD_FAILURES[scenario];
  return {
    title: `${scenario}: fails as "${expected.failure.kind}", and without a second try of its own`,
    run: () =>
      withBench(subject, [wire], async (bench) => {
        const error = await failureOf(collect(bench));
        assert.deepEqual(error.failure, namingModel(expected.failure, bench.model.name));
        assert.equal(error.retryHelps, expected.retryHelps, "retryHelps");
        assert.deepEqual(
          comparableBlocks(error.partial, subject.toolCallIds),
          comparableBlocks(expected.partial ?? [], subject.toolCallIds),
          "what was complete before it failed",
        );
        assert.ok(error.message.length > 0, "there is a message for people");
        assert.equal(bench.server.requests.length, 1, "one call makes one request");
      }),
  };
}

function namingModel(failure: ModelFailure, model: string): ModelFailure {
  return failure.kind === "unknown-model" && failure.model === "" ? { ...failure, model } : failure;
}

function unreachableCase(subject: ContractSubject): ContractCase {
  return {
    title: 'nobody listens: fails as "unreachable", and trying again may help',
    run: async () => {
      const gone = await serveWires([]);
      await gone.close();
      const model = await subject.connect(gone.baseUrl);
      const request = subject.request ?? { max_tokens: 16, messages: [{ role: "user", content: "Anyone?" }] };
      const call = async (): Promise<void> => {
        for await (const _ of model.stream(request));
      };
      const error = await within(failureOf(call()), subject, "an address without a server is noticed");
      assert.equal(error.failure.kind, "unreachable");
      assert.equal(error.retryHelps, true);
    },
  };
}
