import { refuse, type Refusal } from '../exchange/refusal.ts';

/** What went wrong with a request or response of a language model, by the side that is to blame. */
export type LlmFailureKind =
  /** The client's request: 400. */
  | 'request'
  | 'modelNotFound'
  | 'tooLarge'
  | 'encoding'
  /** A service that guards depend on: 503. */
  | 'guard'
  /** The upstream's answer: 502. */
  | 'response'
  | 'internal';

const STATUS: Readonly<Record<LlmFailureKind, number>> = {
  request: 400,
  modelNotFound: 404,
  tooLarge: 413,
  encoding: 415,
  guard: 503,
  response: 502,
  internal: 500,
};

/** Thrown while a request or a response is read or translated; ends as a refusal. */
export class LlmFailure extends Error {
  override readonly name = 'LlmFailure';
  readonly kind: LlmFailureKind;

  constructor(kind: LlmFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }

  /** `side` is where the failure was met. */
  refusal(side: 'request' | 'response'): Refusal {
    const reason =
      this.kind === 'response' ? 'UpstreamFailure' : this.kind === 'internal' ? 'Internal' : 'InvalidRequest';
    return refuse(STATUS[this.kind], reason, `failed to process LLM ${side}: ${this.message}`);
  }
}

/** The client asked for something that cannot be read, or that the chosen service cannot do. */
export function badRequest(message: string): LlmFailure {
  return new LlmFailure('request', message);
}

/** The upstream answered something that cannot be understood. */
export function badResponse(message: string): LlmFailure {
  return new LlmFailure('response', message);
}

/** The failure that an error is; undefined for what is a fault of the gateway. */
export function failureOf(error: unknown, side: 'request' | 'response'): LlmFailure | undefined {
  if (error instanceof LlmFailure) return error;
  // What JSON can be read may be nested too deeply to be walked or written.
  if (!(error instanceof RangeError)) return undefined;
  return side === 'request' ? badRequest('body is nested too deeply') : badResponse('body is nested too deeply');
}
