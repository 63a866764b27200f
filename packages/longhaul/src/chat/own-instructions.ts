import { join } from "node:path";
import type { UserPlaces } from "@longhaul/sessions";
import { agentFolder, readTextFile } from "@longhaul/sessions/internal";

interface OwnInstructions {
  readonly path: string;
  /** The user's instructions. Empty if there are none. */
  readonly text: string;
  /** Sentence that says why an existing file was ignored or shortened. */
  readonly warning?: string;
}

/** Reads the user's instructions for every agent in every folder: `AGENTS.md` next to their settings. */
export async function ownInstructions(places: UserPlaces): Promise<OwnInstructions> {
  const path = join(agentFolder("longhaul", places), "AGENTS.md");
  const file = await readTextFile(path);
  if (file.state === "read") {
    const text = file.text.trim();
    return file.isHead
      ? { path, text, warning: `${path} is too long. longhaul uses only its beginning.` }
      : { path, text };
  }
  if (file.reason === "gone") return { path, text: "" };
  return { path, text: "", warning: `${path} is ignored: it is ${file.reason.replaceAll("-", " ")}.` };
}
