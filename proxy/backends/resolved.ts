import type { AgentCoreBackend } from '../../src/config/ir/index.ts';
import type { HttpVersion } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { Endpoint } from './health.ts';
import type { Origin } from './upstream.ts';

/** What a pick depends on, besides the backend. */
export interface PickFacts {
  /** `host[:port]` of the request as policies left it. */
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  readonly clientVersion: HttpVersion;
  /** `application/grpc` */
  readonly grpc: boolean;
  readonly upgrade: boolean;
  readonly downstreamTls: boolean;
  /** Binds the request to an endpoint of a service. */
  readonly affinity?: string | undefined;
  /** `host:port` that a dynamic backend dials instead of the authority. */
  readonly target?: string | undefined;
}

export interface Picked {
  readonly kind: 'picked';
  readonly origin: Origin;
  /** Whose state the attempt is accounted to; null when it has none. */
  readonly endpoint: Endpoint | null;
  /** Upstream authority that replaces the client's by default: the backend's host name; null keeps the client's. */
  readonly authorityHost: string | null;
  /** Upstream authority for `urlRewrite.authority: auto`; null when the backend has no name. */
  readonly autoAuthority: string | null;
}

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

/** A backend with its connection policies, ready to pick where a request goes. */
export interface ResolvedBackend {
  /** The agent that it is, where its kind decides about paths and credentials. */
  readonly agent?: AgentCoreBackend | undefined;
  readonly kind: 'host' | 'dynamic' | 'service' | 'internal' | 'ai' | 'mcp' | 'agentCore' | 'invalid';
  readonly key: string;
  /** As logs, metrics and traces name it. */
  readonly name: string;
  /** The one host that requests go to, without a port; absent where each request decides. */
  readonly host?: string | undefined;
  /** Of an `internal` backend: replaces the request's path. */
  readonly internalPath: string | undefined;
  /** Called for each attempt; allocates nothing for host backends. */
  pick(facts: PickFacts): Picked | Refused;
  /** For raw bytes. `authority` is `host:port` of a CONNECT, or SNI and port; only dynamic backends look at it. */
  pickTunnel(authority: string | null): Picked | Refused;
}

export function refused(refusal: Refusal): Refused {
  return { kind: 'refused', refusal };
}
