import type { Clock } from '../../../exchange/wait.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import type { TargetConnection, TargetState } from '../contract.ts';
import type { Knowledge } from './knowledge.ts';
import type { ParamHeaders } from './param-headers.ts';

export interface NegotiatingOptions {
  /** How the gateway calls itself where no client has told its name. */
  readonly identity: { readonly name: string; readonly version: string };
  /** Answers of clients to what targets ask find their way back: there are sessions. Else targets are told that nobody can be asked. */
  readonly answers: boolean;
  readonly clock: Clock;
  /** Told with which version a conversation goes on, and what the target has told of itself, where it was asked. */
  readonly onMet?: ((version: string, told: JsonObject | null) => void) | undefined;
  /** Told the version of the client whose session was begun elsewhere, with each of its messages. */
  readonly onResumed?: ((version: string) => void) | undefined;
}

/** What a conversation is made of. */
export interface PeerParts {
  readonly name: string;
  readonly transport: string;
  readonly connection: TargetConnection;
  readonly knowledge: Knowledge;
  readonly paramHeaders: ParamHeaders;
  readonly options: NegotiatingOptions;
  readonly state: TargetState | null;
}
