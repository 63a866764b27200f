import { stringField } from "../../../conversation/untrusted.ts";

/** What a subagent or a background task brought back. */
export interface Finding {
  readonly at: number;
  readonly title: string;
  readonly text: string;
}

export interface BackgroundTask {
  readonly at: number;
  readonly id: string;
  readonly title: string;
}

const LAUNCHED = /^Async agent launched/;
const AGENT_FOOTER = /\n*(?:agentId: [\s\S]*|<usage>[\s\S]*)$/;

export function isAgentTool(name: string): boolean {
  return name === "Task" || name === "Agent";
}

function agentTitle(input: unknown): string {
  return stringField(input, "description") ?? stringField(input, "subagent_type") ?? "subagent";
}

export function readAgentResult(
  at: number,
  input: unknown,
  resultText: string,
): { finding: Finding } | { launched: BackgroundTask } | undefined {
  const title = agentTitle(input);
  if (LAUNCHED.test(resultText)) {
    const id = /agentId: (\w+)/.exec(resultText)?.[1];
    return id === undefined ? undefined : { launched: { at, id, title } };
  }
  const text = resultText.replace(AGENT_FOOTER, "").trim();
  return text === "" ? undefined : { finding: { at, title, text } };
}

export interface Notification {
  readonly taskId: string | undefined;
  readonly status: string;
  readonly title: string;
  readonly result: string;
}

export function readNotification(text: string): Notification {
  const part = (tag: string): string | undefined =>
    new RegExp(`<${tag}>([\\s\\S]*?)(?:</${tag}>|$)`).exec(text)?.[1]?.trim();
  return {
    taskId: part("task-id"),
    status: part("status") ?? "",
    title: part("summary") ?? "background task",
    result: unescaped(part("result") ?? ""),
  };
}

function unescaped(text: string): string {
  return text
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");
}
