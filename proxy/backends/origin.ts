import type { BackendHttp, BackendTcp, BackendTls, ProcessConfig } from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { peerOf } from './connect.ts';
import { backendTlsKey, compileBackendTls, HTTP_ALPN, TlsContexts } from './origin-tls.ts';
import type { OriginTls } from './tls.ts';
import type { Origin, OriginAddress, OriginProxy } from './upstream.ts';

export interface OriginSettings {
  readonly tls?: BackendTls | undefined;
  readonly http?: BackendHttp | undefined;
  readonly tcp?: BackendTcp | undefined;
  readonly defaults: ProcessConfig['backend'];
  readonly contexts: TlsContexts;
  /** The address comes from requests: its pool may be closed to make room. */
  readonly ephemeral?: boolean | undefined;
  /** The HTTP proxy on the way. */
  readonly proxy?: ProxyWay | undefined;
}

/** A proxy that origins are reached through; `key` tells it from others and never holds a secret. */
export type ProxyWay = Omit<OriginProxy, 'mode'> & { readonly key: string };

/** Makes the origins of backends that share their settings; what can be computed once, is. Throws a `GwError` for unusable TLS. */
export class OriginTemplate {
  readonly #settings: OriginSettings;
  readonly #suffix: string;

  constructor(settings: OriginSettings) {
    this.#settings = settings;
    const { tls, tcp, defaults, proxy } = settings;
    const { enabled, timeMs, intervalMs, retries } = tcp?.keepalives ?? defaults.keepalives;
    const timeout = tcp?.connectTimeoutMs ?? defaults.connectTimeoutMs;
    this.#suffix = `${tls === undefined ? 'plain' : backendTlsKey(tls)}|${timeout}|${enabled ? `${timeMs},${intervalMs},${retries}` : 'off'}${proxy === undefined ? '' : `|${proxy.key}`}`;
  }

  get usesTls(): boolean {
    return this.#settings.tls !== undefined;
  }

  get usesProxy(): boolean {
    return this.#settings.proxy !== undefined;
  }

  /** Plaintext HTTP/1.1 is what proxies forward themselves; everything else goes through a tunnel. */
  http(address: OriginAddress, protocol: Origin['protocol']): Origin {
    const mode = this.usesTls || protocol === 'http2' ? 'connect' : 'forward';
    return this.#origin(address, { protocol, mode, alpnOf: (tls) => httpAlpn(tls, protocol) });
  }

  /** For requests that ask for another protocol, which no proxy forwards. */
  upgrade(address: OriginAddress): Origin {
    const protocol = 'http1';
    return this.#origin(address, { protocol, mode: 'connect', alpnOf: (tls) => httpAlpn(tls, protocol) });
  }

  /** For raw bytes: ALPN is offered only when the settings ask for it. */
  raw(address: OriginAddress): Origin {
    const alpn = this.#settings.tls?.alpn ?? [];
    return this.#origin(address, { protocol: 'auto', mode: 'connect', alpnOf: () => alpn });
  }

  #origin(address: OriginAddress, { protocol, mode, alpnOf }: OriginUse): Origin {
    const { tls, tcp, defaults, contexts, ephemeral, proxy } = this.#settings;
    if (proxy !== undefined && address.kind === 'unix') throw socketBehindProxy(address.path);
    const host = address.kind === 'tcp' ? address.host : undefined;
    const compiled = tls === undefined ? null : compileBackendTls(tls, host, contexts);
    return {
      key: `${peerOf(address)}|${protocol}|${this.#suffix}${proxy === undefined ? '' : `|${mode}`}`,
      address,
      tls: compiled === null ? null : { ...compiled, alpn: alpnOf(compiled) },
      protocol,
      connectTimeoutMs: tcp?.connectTimeoutMs ?? defaults.connectTimeoutMs,
      keepalives: tcp?.keepalives ?? defaults.keepalives,
      ...(ephemeral === true ? { ephemeral } : {}),
      ...(proxy === undefined ? {} : { proxy: { mode, origin: proxy.origin, credential: proxy.credential } }),
    };
  }
}

/** What one kind of use asks of an origin. */
interface OriginUse {
  readonly protocol: Origin['protocol'];
  /** Of the proxy, if there is one. */
  readonly mode: OriginProxy['mode'];
  readonly alpnOf: (tls: OriginTls) => readonly string[];
}

function socketBehindProxy(path: string): GwError {
  return new GwError(`unix:${path} cannot be reached through a proxy`, {
    code: 'GW_BACKEND_TUNNEL',
    hint: 'backendTunnel is for backends with a host and a port',
  });
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
