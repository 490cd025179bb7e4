import { isIP, SocketAddress } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

import type { OriginTls } from './tls.ts';

/** Code of the error for a certificate that carries none of the wanted names. */
export const WRONG_NAME = 'GW_CERT_NAME';

/** What is wrong with the name of a certificate whose chain is trusted; undefined when it is the one that was wanted. */
export function verifyPeer(tls: OriginTls, certificate: PeerCertificate): Error | undefined {
  if (tls.verify !== 'full') return undefined;
  if (tls.subjectAltNames === undefined) return checkServerIdentity(tls.verifyName, certificate);
  const present = parseSubjectAltNames(certificate.subjectaltname ?? '');
  if (tls.subjectAltNames.some((wanted) => present.some((name) => names(name, wanted)))) return undefined;
  const seen = present.map((name) => name.value).join(', ');
  return Object.assign(
    new Error(
      `certificate carries none of the wanted subjectAltNames (${tls.subjectAltNames.join(', ')}); it has ${seen === '' ? 'none' : seen}`,
    ),
    { code: WRONG_NAME },
  );
}

export interface SubjectAltName {
  /** `DNS`, `URI`, `IP Address`, `email`, … */
  readonly kind: string;
  readonly value: string;
}

const QUOTED = /"(?:[^"\\]|\\.)*"/y;

/** Reads OpenSSL's list as Node prints it; values with special characters are quoted as JSON strings. */
export function parseSubjectAltNames(text: string): SubjectAltName[] {
  const found: SubjectAltName[] = [];
  let at = 0;
  while (at < text.length) {
    const colon = text.indexOf(':', at);
    if (colon === -1) break;
    const kind = text.slice(at, colon).trim();
    QUOTED.lastIndex = colon + 1;
    const quoted = QUOTED.exec(text);
    const end = quoted === null ? endOfValue(text, colon + 1) : QUOTED.lastIndex;
    const value = quoted === null ? text.slice(colon + 1, end) : unquote(quoted[0]);
    if (value !== undefined) found.push({ kind, value });
    const comma = text.indexOf(',', end);
    if (comma === -1) break;
    at = comma + 1;
  }
  return found;
}

function endOfValue(text: string, from: number): number {
  const comma = text.indexOf(', ', from);
  return comma === -1 ? text.length : comma;
}

function unquote(quoted: string): string | undefined {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function names(present: SubjectAltName, wanted: string): boolean {
  if (present.kind === 'DNS') return dnsNames(present.value.toLowerCase(), wanted.toLowerCase());
  if (present.kind === 'IP Address')
    return isIP(wanted) !== 0 && canonicalAddress(present.value) === canonicalAddress(wanted);
  return present.kind === 'URI' && present.value === wanted;
}

/** An IPv6 address has many spellings; certificates are printed with all their zeros. */
function canonicalAddress(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}

/** A wildcard stands for exactly one label (RFC 9525 section 6.3). */
function dnsNames(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (!pattern.startsWith('*.')) return false;
  const dot = name.indexOf('.');
  return dot > 0 && name.slice(dot) === pattern.slice(1);
}
