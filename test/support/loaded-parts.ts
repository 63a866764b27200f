/**
 * Loads the parts of core that load on first use. Tests with a virtual clock import this file: loading takes
 * real time, and their clock would run on meanwhile.
 */
import "../../packages/core/src/compaction/carry-out.ts";
import "../../packages/core/src/compaction/summary/builtin/summarize-messages.ts";
import "../../packages/core/src/engine/recover.ts";
import "../../packages/core/src/engine/undo.ts";
import "../../packages/core/src/modules/collapse/summarize-span.ts";
