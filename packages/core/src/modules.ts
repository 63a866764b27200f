export { apiClearing, type ContextEditOptions, contextEdits } from "./modules/api-clearing/api-clearing.ts";
export { cachedEdits } from "./modules/cached-edits/cached-edits.ts";
export { type CollapseCommands, type CollapseOptions, spanCollapse } from "./modules/collapse/collapse.ts";
export { memoryFiles } from "./modules/memory-files/memory-files-module.ts";
export { type SnipOptions, type Snipped, type SnipSelection, snip } from "./modules/snip/snip.ts";
export { messageSnip, type SnipCommands, type SnipTurn } from "./modules/snip/snip-module.ts";
