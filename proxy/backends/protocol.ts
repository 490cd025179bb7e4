import type { AppProtocol } from '../../src/config/ir/index.ts';
import type { HttpVersion } from '../exchange/message.ts';
import type { Origin } from './upstream.ts';

export interface ProtocolFacts {
  /** `http.version` of the backend's policies. */
  readonly policy: 'HTTP/1.1' | 'HTTP/2.0' | undefined;
  readonly appProtocol: AppProtocol | undefined;
  /** The request is `application/grpc`. */
  readonly grpc: boolean;
  /** The request asks for a protocol upgrade, which only HTTP/1.1 has. */
  readonly upgrade: boolean;
  readonly downstreamTls: boolean;
  readonly clientVersion: HttpVersion;
  /** The backend is reached over TLS. */
  readonly backendTls: boolean;
}

/**
 * Which HTTP version a backend is spoken to: what the policy says, then the service's app protocol, then gRPC over TLS
 * (HTTP/2), then what ALPN gives on a TLS backend. Without any of it: a client that came over TLS negotiated with the
 * gateway and says nothing about the backend (HTTP/1.1); a plaintext client chose its version itself, so it is kept.
 */
export function upstreamProtocol(facts: ProtocolFacts): Origin['protocol'] {
  if (facts.policy !== undefined) return facts.policy === 'HTTP/2.0' ? 'http2' : 'http1';
  if (facts.appProtocol === 'Http11') return 'http1';
  if (facts.appProtocol === 'Http2' || facts.appProtocol === 'Grpc') return 'http2';
  if (facts.upgrade) return 'http1';
  if (facts.grpc && (facts.downstreamTls || facts.backendTls)) return 'http2';
  if (facts.backendTls) return 'auto';
  if (facts.downstreamTls) return 'http1';
  return facts.clientVersion === 'HTTP/2.0' ? 'http2' : 'http1';
}
