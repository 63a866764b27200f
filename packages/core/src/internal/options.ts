export { hasMethods, invalidOption, requireOneOf } from "../engine/require-options.ts";
