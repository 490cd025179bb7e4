import { isIP } from 'node:net';

import type { AppProtocol, BackendHttp } from '../../src/config/ir/index.ts';
import { joinHostPort } from './connect.ts';
import type { Endpoint } from './health.ts';
import type { OriginTemplate } from './origin.ts';
import { upstreamProtocol } from './protocol.ts';
import type { PickFacts, Picked } from './resolved.ts';
import type { Origin, OriginAddress } from './upstream.ts';

export interface PickSetOptions {
  readonly template: OriginTemplate;
  readonly address: OriginAddress;
  readonly endpoint: Endpoint | null;
  readonly authorityHost: string | null;
  readonly autoAuthority: string | null;
}

/** The ways to reach one address: one pick per HTTP version, made once, so that picking allocates nothing. */
export class PickSet {
  readonly #options: PickSetOptions;
  readonly #picks: { http1: Picked; http2: Picked; auto: Picked };
  /** For upgrades, where they need a way of their own. */
  readonly #upgrade: Picked | null;
  #raw: Picked | undefined;

  /** Throws a `GwError` when TLS cannot be used. */
  constructor(options: PickSetOptions) {
    this.#options = options;
    const { template, address } = options;
    this.#picks = {
      http1: this.#picked(template.http(address, 'http1')),
      http2: this.#picked(template.http(address, 'http2')),
      auto: this.#picked(template.http(address, 'auto')),
    };
    this.#upgrade = template.usesProxy ? this.#picked(template.upgrade(address)) : null;
  }

  http(choice: VersionChoice, facts: PickFacts): Picked {
    const protocol = protocolFor(choice, facts);
    return facts.upgrade && protocol === 'http1' && this.#upgrade !== null ? this.#upgrade : this.#picks[protocol];
  }

  tunnel(): Picked {
    return (this.#raw ??= this.#picked(this.#options.template.raw(this.#options.address)));
  }

  keys(): string[] {
    const picks = [...Object.values(this.#picks), ...(this.#upgrade === null ? [] : [this.#upgrade])];
    return picks.map((pick) => pick.origin.key);
  }

  #picked(origin: Origin): Picked {
    const { endpoint, authorityHost, autoAuthority } = this.#options;
    return { kind: 'picked', origin, endpoint, authorityHost, autoAuthority };
  }
}

/** What chooses the version for a backend, apart from the request. */
export interface VersionChoice {
  readonly http: BackendHttp | undefined;
  readonly appProtocol: AppProtocol | undefined;
  readonly backendTls: boolean;
}

function protocolFor(choice: VersionChoice, facts: PickFacts): Origin['protocol'] {
  return upstreamProtocol({
    policy: choice.http?.version,
    appProtocol: choice.appProtocol,
    grpc: facts.grpc,
    upgrade: facts.upgrade,
    downstreamTls: facts.downstreamTls,
    clientVersion: facts.clientVersion,
    backendTls: choice.backendTls,
  });
}

/** `host`, with the port when it is not the scheme's own; null for addresses that are no names. */
export function authorityOf(address: OriginAddress, usesTls: boolean): string | null {
  if (address.kind === 'unix' || isIP(address.host) !== 0) return null;
  return address.port === (usesTls ? 443 : 80) ? address.host : joinHostPort(address.host, address.port);
}
