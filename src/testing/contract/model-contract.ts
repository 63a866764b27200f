import assert from "node:assert/strict";
import { abortCases } from "./abort-cases.ts";
import { collect, failureOf, replyOf, withBench } from "./bench.ts";
import { failureCases } from "./failure-cases.ts";
import { replyCases } from "./reply-cases.ts";
import type { ContractCase, ContractSubject, WireAnswer } from "./subject.ts";

/**
 * What every adapter promises, as cases for any test runner: each plays a recorded answer from a real
 * loopback server to the subject's model with its real SDK.
 */
export function modelContract(subject: ContractSubject): readonly ContractCase[] {
  return [
    ...replyCases(subject),
    ...failureCases(subject),
    ...abortCases(subject),
    ...repeatCases(subject),
    ...countCases(subject),
  ];
}

function repeatCases(subject: ContractSubject): readonly ContractCase[] {
  const { text, overloaded } = subject.wires;
  if (text === undefined) return [];
  const twice: ContractCase = {
    title: "a model serves call after call, and the same answer is the same reply",
    run: () =>
      withBench(subject, [text], async (bench) => {
        const first = replyOf(await collect(bench));
        assert.deepEqual(replyOf(await collect(bench)), first);
        assert.deepEqual(bench.server.requests[0]?.body, bench.server.requests[1]?.body);
      }),
  };
  return overloaded === undefined ? [twice] : [twice, afterFailureCase(subject, overloaded, text)];
}

function afterFailureCase(subject: ContractSubject, failing: WireAnswer, text: WireAnswer): ContractCase {
  return {
    title: "a call after a failed one works",
    run: () =>
      withBench(subject, [failing, text], async (bench) => {
        await failureOf(collect(bench));
        assert.ok(replyOf(await collect(bench)).content.length > 0);
      }),
  };
}

function countCases(subject: ContractSubject): readonly ContractCase[] {
  const wire = subject.wires["count-tokens"];
  return [
    {
      title: "countTokens gives a number above zero and says where it is from",
      run: () =>
        withBench(subject, [wire ?? { status: 500, body: "{}" }], async (bench) => {
          const count = await bench.model.countTokens(bench.request);
          assert.equal(count.source, bench.model.capabilities.countTokens);
          assert.ok(Number.isInteger(count.tokens) && count.tokens > 0, `${count.tokens} tokens`);
          if (subject.countedTokens !== undefined) assert.equal(count.tokens, subject.countedTokens);
        }),
    },
  ];
}
