/**
 * Structural type for the part of `@opentelemetry/api` that we use. The module itself and its providers match
 * this type. We do not import the package's types, because our published types must not depend on the
 * package. Members are methods, so that the package's narrower signatures match.
 */
export interface OpenTelemetryApi {
  readonly trace: { getTracer(name: string): TelemetryTracer };
  readonly metrics: { getMeter(name: string): TelemetryMeter };
}

export interface TelemetryTracer {
  startSpan(name: string, options?: { attributes?: TelemetryAttributes }): TelemetrySpan;
}

export interface TelemetrySpan {
  setAttributes(attributes: TelemetryAttributes): unknown;
  addEvent(name: string, attributes?: TelemetryAttributes): unknown;
  setStatus(status: { code: number }): unknown;
  updateName(name: string): unknown;
  end(): void;
}

export interface TelemetryMeter {
  createCounter(name: string, options?: InstrumentOptions): TelemetryCounter;
  createHistogram(name: string, options?: InstrumentOptions): TelemetryHistogram;
}

export interface InstrumentOptions {
  description?: string;
  unit?: string;
  advice?: { explicitBucketBoundaries?: number[] };
}

export interface TelemetryCounter {
  add(value: number, attributes?: TelemetryAttributes): void;
}

export interface TelemetryHistogram {
  record(value: number, attributes?: TelemetryAttributes): void;
}

/** Attributes of a span or metric. Undefined ones are omitted. */
export interface TelemetryAttributes {
  [name: string]: string | number | boolean | string[] | undefined;
}
