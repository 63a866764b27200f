import type { NotesFile } from "../../packages/notes/src/notes-format.ts";

/** Notes in memory, as a file would keep them. */
export class HeldNotes implements NotesFile {
  readonly path = "/home/dev/harbour.notes.md";
  text: string | undefined;
  /** How often they were written. */
  writes = 0;

  constructor(text?: string) {
    this.text = text;
  }

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async write(text: string, replacing: string | undefined): Promise<boolean> {
    if (replacing !== this.text) return false;
    this.text = text;
    this.writes += 1;
    return true;
  }
}
