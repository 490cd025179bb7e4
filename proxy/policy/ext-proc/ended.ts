import type { ImmediateResponse } from '../../services/messages/process.ts';

/** The conversation with the service is over before the gateway was through with it. */
export class Ended extends Error {
  /** The answer that the service wants the client to get; null when the service has failed. */
  readonly immediate: ImmediateResponse | null;

  constructor(message: string, immediate: ImmediateResponse | null = null) {
    super(message);
    this.name = 'Ended';
    this.immediate = immediate;
  }
}

/** The body that was to be processed could not be read. */
export class BodyCut extends Error {
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message);
    this.name = 'BodyCut';
    this.cause = cause;
  }
}
