export { LonghaulError, type LonghaulErrorCode } from "./messages/errors.ts";
