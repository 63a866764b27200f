import type { NotesFile } from "../../packages/notes/src/notes-format.ts";

/** In-memory notes that behave like a file. */
export class HeldNotes implements NotesFile {
  readonly path = "/home/dev/harbour.notes.md";
  text: string | undefined;
  /** Number of writes. */
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
