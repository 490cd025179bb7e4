import { isIP } from 'node:net';

import { splitAuthority } from '../exchange/message.ts';
import type { Endpoint } from './health.ts';
import { joinHostPort } from './connect.ts';
import type { OriginTemplate } from './origin.ts';
import { PickSet, type VersionChoice } from './pick-set.ts';
import { invalidDynamicTarget, noDynamicTarget } from './refusal.ts';
import { refused, type PickFacts, type Picked, type Refused, type ResolvedBackend } from './resolved.ts';
import type { OriginAddress } from './upstream.ts';

const MAX_REMEMBERED = 1024;
const HOST_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?$/;
const invalid: Refused = refused(invalidDynamicTarget);
const untold: Refused = refused(noDynamicTarget);

/** Ways to reach addresses that requests name; the ones used last are remembered. */
export class AddressBook {
  readonly #make: (address: OriginAddress & { kind: 'tcp' }) => PickSet;
  readonly #known = new Map<string, PickSet>();

  constructor(make: (address: OriginAddress & { kind: 'tcp' }) => PickSet) {
    this.#make = make;
  }

  get(host: string, port: number): PickSet {
    const key = joinHostPort(host, port);
    let picks = this.#known.get(key);
    if (picks === undefined) {
      picks = this.#make({ kind: 'tcp', host, port });
      const oldest = this.#known.size >= MAX_REMEMBERED ? this.#known.keys().next() : undefined;
      if (oldest !== undefined && oldest.done !== true) this.#known.delete(oldest.value);
    } else this.#known.delete(key);
    this.#known.set(key, picks);
    return picks;
  }
}

export interface DynamicBackendOptions {
  readonly key: string;
  readonly template: OriginTemplate;
  readonly choice: VersionChoice;
  readonly endpoint: Endpoint | null;
}

/** Dials whatever host the request names. */
export class DynamicBackend implements ResolvedBackend {
  readonly kind = 'dynamic';
  readonly key: string;
  readonly name: string;
  readonly internalPath = undefined;
  readonly #choice: VersionChoice;
  readonly #book: AddressBook;

  constructor({ key, template, choice, endpoint }: DynamicBackendOptions) {
    this.key = key;
    this.name = key;
    this.#choice = choice;
    this.#book = new AddressBook(
      (address) => new PickSet({ template, address, endpoint, authorityHost: null, autoAuthority: null }),
    );
  }

  pick(facts: PickFacts): Picked | Refused {
    const tls = this.#choice.backendTls || facts.scheme === 'https';
    const target = parseTarget(facts.target ?? facts.authority, tls ? 443 : 80);
    if (target === null) return facts.target === undefined ? invalid : untold;
    return this.#book.get(target.host, target.port).http(this.#choice, facts);
  }

  pickTunnel(authority: string | null): Picked | Refused {
    const target = authority === null ? null : parseTarget(authority, null);
    return target === null ? invalid : this.#book.get(target.host, target.port).tunnel();
  }
}

/** Host (without brackets) and port of an authority; null when it is none, or has no port and there is no default. */
export function parseTarget(authority: string, defaultPort: number | null): { host: string; port: number } | null {
  const split = splitAuthority(authority);
  const bracketed = split.host.startsWith('[') && split.host.endsWith(']');
  const host = bracketed ? split.host.slice(1, -1) : split.host;
  const port = split.port ?? (authority === split.host ? defaultPort : null);
  if (port === null || port > 65_535) return null;
  const valid = bracketed ? isIP(host) === 6 : HOST_NAME.test(host);
  return valid ? { host: host.toLowerCase(), port } : null;
}
