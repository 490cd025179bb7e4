import { Attributes } from '../exchange/attributes.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { HttpRequest } from '../exchange/message.ts';
import type { EvalContext } from './contract.ts';

/** What expressions see of a request before anything has been done to it. */
export function arrivalContext(request: HttpRequest, connection: ConnectionFacts, startedAt: number): EvalContext {
  return { connection, request, response: null, attributes: new Attributes(), progress: null, trace: null, startedAt };
}
