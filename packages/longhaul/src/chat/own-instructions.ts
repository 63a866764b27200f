import { join } from "node:path";
import type { UserPlaces } from "@longhaul/sessions";
import { agentFolder, readTextFile } from "@longhaul/sessions/internal";

interface OwnInstructions {
  readonly path: string;
  /** Empty where there are none. */
  readonly text: string;
  /** Why a file that is there was not taken, or not all of it; in a sentence. */
  readonly warning?: string;
}

/** What the user wants of every agent, in every folder: `AGENTS.md` beside their settings. */
export async function ownInstructions(places: UserPlaces): Promise<OwnInstructions> {
  const path = join(agentFolder("longhaul", places), "AGENTS.md");
  const file = await readTextFile(path);
  if (file.state === "read") {
    const text = file.text.trim();
    return file.isHead
      ? { path, text, warning: `Of ${path} only the beginning is used: it is too long.` }
      : { path, text };
  }
  if (file.reason === "gone") return { path, text: "" };
  return { path, text: "", warning: `${path} is ignored: it is ${file.reason.replaceAll("-", " ")}.` };
}
