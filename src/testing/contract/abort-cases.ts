import assert from "node:assert/strict";
import { type Bench, collect, failureOf, withBench } from "./bench.ts";
import type { ContractCase, ContractSubject, WireAnswer } from "./subject.ts";

const SILENCE: WireAnswer = { body: "", hang: true };

export function abortCases(subject: ContractSubject): readonly ContractCase[] {
  const cases: ContractCase[] = [
    {
      title: "an abort before the call: fails as aborted and sends nothing",
      run: () =>
        withBench(subject, [SILENCE], async (bench) => {
          await expectAborted(collect(bench, { signal: AbortSignal.abort() }));
          assert.equal(bench.server.requests.length, 0, "nothing is sent");
        }),
    },
    {
      title: "an abort while waiting for the answer: ends at once and closes the connection",
      run: () =>
        withBench(subject, [SILENCE], async (bench) => {
          const controller = new AbortController();
          const failed = expectAborted(collect(bench, { signal: controller.signal }));
          await bench.server.firstRequest;
          controller.abort();
          await failed;
          await bench.server.dropped;
        }),
    },
    {
      title: "an abort of a count before it is made: fails as aborted",
      run: () =>
        withBench(subject, [SILENCE], async (bench) => {
          const signal = AbortSignal.abort();
          await expectAborted(bench.model.countTokens(bench.request, { signal }));
        }),
    },
  ];
  const hang = subject.wires.hang;
  return hang === undefined ? cases : [...cases, ...midStreamCases(subject, { ...hang, hang: true })];
}

function midStreamCases(subject: ContractSubject, hang: WireAnswer): readonly ContractCase[] {
  return [
    {
      title: "an abort in mid-stream: ends at once and closes the connection",
      run: () =>
        withBench(subject, [hang], async (bench) => {
          const controller = new AbortController();
          await expectAborted(consumeUntilText(bench, () => controller.abort(), controller.signal));
          await bench.server.dropped;
        }),
    },
    {
      title: "an abort while the next event is awaited: ends at once and closes the connection",
      run: () =>
        withBench(subject, [hang], async (bench) => {
          const controller = new AbortController();
          const later = (): unknown => setImmediate(() => controller.abort());
          await expectAborted(consumeUntilText(bench, later, controller.signal));
          await bench.server.dropped;
        }),
    },
    {
      title: "a caller that stops listening closes the connection",
      run: () =>
        withBench(subject, [hang], async (bench) => {
          for await (const event of bench.model.stream(bench.request)) if (event.type === "text") break;
          await bench.server.dropped;
        }),
    },
  ];
}

async function expectAborted(work: Promise<unknown>): Promise<void> {
  const error = await failureOf(work);
  assert.equal(error.failure.kind, "aborted");
  assert.equal(error.retryHelps, false);
}

/** Goes on listening after the abort, as a caller does that does not watch its own signal. */
async function consumeUntilText(bench: Bench, onText: () => unknown, signal: AbortSignal): Promise<void> {
  let heard = false;
  for await (const event of bench.model.stream(bench.request, { signal })) {
    if (event.type !== "text" || heard) continue;
    heard = true;
    onText();
  }
}
