import { Attributes } from '../exchange/attributes.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { EvalContext } from './contract.ts';

/** What expressions see of a connection that carries no requests. */
export function connectionContext(connection: ConnectionFacts, trace: Recorder | null = null): EvalContext {
  return { connection, request: null, response: null, attributes: new Attributes(), progress: null, trace };
}
