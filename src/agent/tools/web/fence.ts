import { randomUUID } from "node:crypto";

export interface Fenced {
  /** The line before and after the text. */
  readonly mark: string;
  readonly block: string;
}

/** Puts a stranger's text between two marks. The stranger cannot know the mark, so the text cannot fake its own end. */
export function fenced(text: string): Fenced {
  const mark = `page-${randomUUID()}`;
  return { mark, block: `${mark}\n${text}\n${mark}` };
}
