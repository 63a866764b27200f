export { commandKey } from "./tools/shell/command-text.ts";
