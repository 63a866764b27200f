import type { FollowedTodo } from "../../conversation/todo-ledger.ts";
import { clip, oneLine } from "../../summary/clip.ts";
import type { BackgroundTask } from "../../summary/readers/readers.ts";

/** Lines of the current state that are read back at the next update: what they tell goes on until it is overtaken. */

export const LATEST_REQUEST = "Latest request";
export const CARRIES_ON = "It carries on with";
export const STATUS = "Status";
export const NOTHING_DONE = "nothing has been done about it yet";
export const USER_WAS_ASKED = "the user was asked: ";
export const CHANGED = "Changed for it so far";
export const LAST_WORDS = "Last words of the assistant";

const MAX_TODO_CHARS = 220;
const MAX_TASK_CHARS = 160;
const TODO = /^- \[( |in progress)\] (.*?)(?: \(task ([\w-]{1,60})\))?$/;
const RUNNING = /^- Background agent not reported back: (.*) \(id ([\w-]{1,80})\)$/;

export function labelled(label: string, text: string): string {
  return `- ${label}: ${text}`;
}

/** What stands behind a label; undefined where there is no such line. */
export function behindLabel(items: readonly string[], label: string): string | undefined {
  const start = labelled(label, "");
  return items.find((item) => item.startsWith(start))?.slice(start.length);
}

export function todoLine({ content, status, id }: FollowedTodo): string {
  const mark = status === "in_progress" ? "[in progress]" : "[ ]";
  const task = id === undefined ? "" : ` (task ${id})`;
  return `- ${mark} ${clip(oneLine(content), MAX_TODO_CHARS)}${task}`;
}

export function todosIn(items: readonly string[]): FollowedTodo[] {
  return items.flatMap((item) => {
    const [, mark, content = "", id] = TODO.exec(item) ?? [];
    if (mark === undefined || content === "") return [];
    const status = mark === " " ? "pending" : "in_progress";
    return [{ content, status, ...(id === undefined ? {} : { id }) } satisfies FollowedTodo];
  });
}

export function runningLine({ title, id }: BackgroundTask): string {
  return `- Background agent not reported back: ${clip(oneLine(title), MAX_TASK_CHARS)} (id ${id})`;
}

export function runningIn(items: readonly string[]): BackgroundTask[] {
  return items.flatMap((item) => {
    const [, title, id] = RUNNING.exec(item) ?? [];
    return title === undefined || id === undefined ? [] : [{ at: 0, title, id }];
  });
}
