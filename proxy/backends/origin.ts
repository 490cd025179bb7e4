import type { BackendHttp, BackendTcp, BackendTls, ProcessConfig } from '../../src/config/ir/index.ts';
import { peerOf } from './connect.ts';
import { backendTlsKey, compileBackendTls, HTTP_ALPN, TlsContexts } from './origin-tls.ts';
import type { OriginTls } from './tls.ts';
import type { Origin, OriginAddress } from './upstream.ts';

export interface OriginSettings {
  readonly tls?: BackendTls | undefined;
  readonly http?: BackendHttp | undefined;
  readonly tcp?: BackendTcp | undefined;
  readonly defaults: ProcessConfig['backend'];
  readonly contexts: TlsContexts;
  /** The address comes from requests: its pool may be closed to make room. */
  readonly ephemeral?: boolean | undefined;
}

/** Where and how to connect, by the HTTP version that its policies force (none: `auto`). Throws a `GwError` for unusable TLS. */
export function compileOrigin(address: OriginAddress, settings: OriginSettings): Origin {
  const version = settings.http?.version;
  return new OriginTemplate(settings).http(
    address,
    version === undefined ? 'auto' : version === 'HTTP/2.0' ? 'http2' : 'http1',
  );
}

/** Makes the origins of backends that share their settings; what can be computed once, is. */
export class OriginTemplate {
  readonly #settings: OriginSettings;
  readonly #suffix: string;

  constructor(settings: OriginSettings) {
    this.#settings = settings;
    const { tls, tcp, defaults } = settings;
    const { enabled, timeMs, intervalMs, retries } = tcp?.keepalives ?? defaults.keepalives;
    const timeout = tcp?.connectTimeoutMs ?? defaults.connectTimeoutMs;
    this.#suffix = `${tls === undefined ? 'plain' : backendTlsKey(tls)}|${timeout}|${enabled ? `${timeMs},${intervalMs},${retries}` : 'off'}`;
  }

  get usesTls(): boolean {
    return this.#settings.tls !== undefined;
  }

  http(address: OriginAddress, protocol: Origin['protocol']): Origin {
    return this.#origin(address, protocol, (tls) => httpAlpn(tls, protocol));
  }

  /** For raw bytes: ALPN is offered only when the settings ask for it. */
  raw(address: OriginAddress): Origin {
    const alpn = this.#settings.tls?.alpn ?? [];
    return this.#origin(address, 'auto', () => alpn);
  }

  #origin(address: OriginAddress, protocol: Origin['protocol'], alpnOf: (tls: OriginTls) => readonly string[]): Origin {
    const { tls, tcp, defaults, contexts, ephemeral } = this.#settings;
    const host = address.kind === 'tcp' ? address.host : undefined;
    const compiled = tls === undefined ? null : compileBackendTls(tls, host, contexts);
    return {
      key: `${peerOf(address)}|${protocol}|${this.#suffix}`,
      address,
      tls: compiled === null ? null : { ...compiled, alpn: alpnOf(compiled) },
      protocol,
      connectTimeoutMs: tcp?.connectTimeoutMs ?? defaults.connectTimeoutMs,
      keepalives: tcp?.keepalives ?? defaults.keepalives,
      ...(ephemeral === true ? { ephemeral } : {}),
    };
  }
}

/** A forced version leaves only its own name in the offer. */
function httpAlpn(tls: OriginTls, protocol: Origin['protocol']): readonly string[] {
  switch (protocol) {
    case 'auto':
      return tls.alpn.length === 0 ? HTTP_ALPN : tls.alpn;
    case 'http2':
      return ['h2'];
    case 'http1':
      return ['http/1.1'];
  }
}
