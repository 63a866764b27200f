export { LonghaulError, type LonghaulErrorCode, type LonghaulErrorDetails } from "./messages/errors.ts";
