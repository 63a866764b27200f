import type { Agent, AgentEvent } from "@longhaul/agent";
import { openAgent } from "@longhaul/agent";
import type { GuideStep } from "../../packages/longhaul/src/chat/chat-setup.ts";
import { openTour, type Tour, type TourOptions } from "../../packages/longhaul/src/chat/tour/tour.ts";
import type { TourReport } from "../../packages/longhaul/src/chat/tour/tour-report.ts";

/** Result of a tour that ran without a terminal. The inputs of the guide were sent directly to the agent. */
export interface Driven {
  readonly tour: Tour;
  readonly agent: Agent;
  readonly steps: readonly GuideStep[];
  readonly events: readonly AgentEvent[];
  /**
   * Answers of the model. The key is an input, the value is the last answer to it. The value is empty for
   * commands.
   */
  readonly answers: ReadonlyMap<string, string>;
  readonly report: TourReport;
  close(): Promise<void>;
}

export async function driveTour(options: TourOptions = {}): Promise<Driven> {
  const tour = await openTour(options);
  const events: AgentEvent[] = [];
  const take = (event: AgentEvent): void => {
    events.push(event);
    tour.guide.saw(event);
  };
  const agent = await openAgent({ ...tour.agentOptions, onEvent: take });
  const steps: GuideStep[] = [];
  const answers = new Map<string, string>();
  let sent: string | undefined;
  for (;;) {
    const step = await tour.guide.next(sent);
    if (step === undefined) break;
    steps.push(step);
    sent = step.input;
    if (sent !== "") answers.set(sent, await send(agent, sent, take));
  }
  const report = await tour.report(agent);
  return {
    tour,
    agent,
    steps,
    events,
    answers,
    report,
    close: async () => {
      await agent.close();
      await tour.close();
    },
  };
}

async function send(agent: Agent, input: string, take: (event: AgentEvent) => void): Promise<string> {
  switch (input) {
    case "/compact":
      await agent.compact();
      return "";
    case "/undo":
      await agent.undo();
      return "";
    case "/redo":
      await agent.redo();
      return "";
    case "/notes off":
      await agent.setNotes("off");
      return "";
    case "/notes on":
      await agent.setNotes("model");
      return "";
    case "/context":
    case "/ledger":
      return "";
  }
  const run = agent.run(input);
  for (;;) {
    const { value, done } = await run.next();
    if (done === true) return value.text;
    take(value);
  }
}
