import type { Recorder } from '../telemetry/recorder.ts';
import type { ConnectionFacts } from './connection.ts';
import type { HttpRequest } from './message.ts';
import type { Transport } from './transport.ts';

/**
 * One request and its response as the pipeline sees them, whatever the transport. Policies change `request` in place
 * and leave what later ones need in `attributes`.
 */
export class Exchange {
  readonly request: HttpRequest;
  readonly connection: ConnectionFacts;
  readonly transport: Transport;
  /** `performance.now()` at the arrival of the head, milliseconds. */
  readonly startedAt: number;
  /** Null while nobody watches: reporting costs this one comparison. */
  readonly trace: Recorder | null;
  /** The client's request line before any policy changed it, for the log. */
  readonly clientAuthority: string;
  readonly clientTarget: string;

  constructor(request: HttpRequest, connection: ConnectionFacts, transport: Transport, trace: Recorder | null) {
    this.request = request;
    this.connection = connection;
    this.transport = transport;
    this.startedAt = performance.now();
    this.trace = trace;
    this.clientAuthority = request.authority;
    this.clientTarget = request.target;
  }
}

/** What a listener calls for each request. Never throws, and always ends in one `transport.respond` or `takeOver`. */
export type RequestHandler = (request: HttpRequest, connection: ConnectionFacts, transport: Transport) => void;
