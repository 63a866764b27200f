import { type Command, Option } from "commander";

const setting = (key: string): string =>
  `Set ${key} in settings.json instead. docs/reference/settings.md describes it.`;
const inConfig = (key: string): string =>
  `Set ${key} in the --config file instead. docs/simulator.md describes it.`;
const MODEL_WINDOW = "Pass the name of a model to --window instead.";

/** Removed flags by command, with their replacement. */
export const MOVED_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  chat: {
    "--small-model": setting("chat.smallModel"),
    "--max-turns": setting("chat.maxTurns"),
    "--notes": setting("chat.notes"),
    "--allow-path": setting("chat.permissions.paths"),
  },
  inspect: { "--model-window": MODEL_WINDOW },
  compact: {
    "--model-window": MODEL_WINDOW,
    "--first-byte-timeout": setting("compact.firstByteTimeout"),
    "--timeout": setting("compact.timeout"),
  },
  clear: { "--model-window": MODEL_WINDOW },
  undo: { "--model-window": MODEL_WINDOW },
  notes: {
    "--template": setting("notes.template"),
    "--first-byte-timeout": setting("notes.firstByteTimeout"),
    "--timeout": setting("notes.timeout"),
  },
  sim: { "--binding": inConfig("switches.enforceBinding"), "--betas": inConfig("switches.unknownBetas") },
};

/**
 * Rejects the removed flags of a command. The error names the replacement, which helps more than "unknown
 * option".
 */
export function refuseMovedFlags(command: Command): void {
  for (const [flag, remedy] of Object.entries(MOVED_FLAGS[command.name()] ?? {})) {
    const option = new Option(`${flag} [value]`).hideHelp();
    command.addOption(option);
    command.on(`option:${option.name()}`, () =>
      command.error(`error: ${flag} does not exist anymore. ${remedy}`),
    );
  }
}
