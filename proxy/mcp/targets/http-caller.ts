import type { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import type { TargetCall, TargetFailure } from './contract.ts';

/** One HTTP request to a target. */
export interface HttpAsk {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The caller may change them: policies of the connection do. */
  readonly headers: Headers;
  /** Null for none. */
  readonly body: Uint8Array | null;
  /** What is asked for is told by method and path, not by a message in the body. */
  readonly told?: boolean | undefined;
  /** It belongs to the conversation: it goes on when the request of the client on whose behalf it was opened is over. */
  readonly lasting: boolean;
  /** `ip:port` of the endpoint that has to get it, `forgotten` where it is gone; undefined leaves the choice to the balancer. */
  readonly pinned: string | undefined;
}

/** A response head of whatever status; its body streams, and is piped or cancelled by whoever asked. */
export interface HttpAnswer {
  readonly kind: 'answer';
  readonly response: HttpResponse;
  /** `ip:port` of the endpoint that answered, where the target is a service with several. */
  readonly pinned: string | undefined;
  /** `scheme://authority` under which the target was asked: what it takes for its own address. */
  readonly origin: string;
}

export interface HttpCalling {
  /** Never rejects. */
  readonly outcome: Promise<HttpAnswer | TargetFailure>;
  /** Gives it up, before the head or in the middle of the body, which then ends in `onError`. */
  cancel(): void;
}

/** Sends requests to the address of one target, through the policies of its connection. */
export interface HttpCaller {
  /** `call` is null when no client waits. */
  send(ask: HttpAsk, call: TargetCall | null): HttpCalling;
}
