import type { BackendTls, KeyExchangeGroup, TlsServer, TlsVersion } from '../ir/tls.ts';
import type { Path } from '../load/problem.ts';
import type { BackendTlsSpec } from '../schema/policy/backend-tls.ts';
import { CIPHER_SUITES, type TlsServerSpec } from '../schema/tls.ts';
import type { Context } from './context.ts';
import { certificates, keyPair } from './pem.ts';

/** TLS of a listener; undefined after a problem, or while its files are not read yet. */
export function tlsServer(context: Context, spec: TlsServerSpec, path: Path): TlsServer | undefined {
  const { cert, key } = spec;
  if (cert === undefined || key === undefined) return undefined;
  const pair = keyPair(context, { cert, key }, path);
  const root = spec.root === undefined ? undefined : certificates(context, spec.root, [...path, 'root']);
  if (pair === undefined || (spec.root !== undefined && root === undefined)) return undefined;
  return {
    mode: 'static',
    ...pair,
    root: root?.source,
    cipherSuites: openSslNames(spec.cipherSuites),
    minVersion: tlsVersion(spec.minTLSVersion ?? spec.minTlsVersion),
    maxVersion: tlsVersion(spec.maxTLSVersion ?? spec.maxTlsVersion),
    keyExchangeGroups: keyExchangeGroups(spec.keyExchangeGroups),
  };
}

/** TLS towards a backend; undefined after a problem, or while its files are not read yet. */
export function backendTls(context: Context, spec: BackendTlsSpec, path: Path): BackendTls | undefined {
  const { cert, key } = spec;
  const pair = cert === undefined || key === undefined ? undefined : keyPair(context, { cert, key }, path);
  const root = spec.root === undefined ? undefined : certificates(context, spec.root, [...path, 'root']);
  if ((cert !== undefined && pair === undefined) || (spec.root !== undefined && root === undefined)) return undefined;
  return {
    cert: pair?.cert,
    key: pair?.key,
    root: root?.source,
    hostname: spec.hostname,
    verify: spec.insecureHost ? 'chain' : spec.insecure ? 'none' : 'full',
    alpn: spec.alpn,
    subjectAltNames: spec.subjectAltNames,
    keyExchangeGroups: keyExchangeGroups(spec.keyExchangeGroups),
  };
}

export function openSslNames(names: readonly string[] | undefined): string[] | undefined {
  return names?.map((name) => CIPHER_SUITES[name] ?? name);
}

export function tlsVersion(version: string | undefined): TlsVersion | undefined {
  if (version === undefined) return undefined;
  return version === 'TLS_V1_3' ? 'TLSv1.3' : 'TLSv1.2';
}

export function keyExchangeGroups(
  groups: readonly ('X25519' | 'P-256' | 'P-384' | 'X25519_MLKEM768')[] | undefined,
): KeyExchangeGroup[] | undefined {
  return groups?.map((group) => (group === 'X25519_MLKEM768' ? 'X25519MLKEM768' : group));
}
