import type { X509Certificate } from 'node:crypto';

import type { PeerIdentity } from '../exchange/connection.ts';

const SPIFFE_WORKLOAD = /^spiffe:\/\/[^/]+\/ns\/([^/]+)\/sa\/([^/]+)$/;

/** What a verified client certificate says about its holder. */
export function peerIdentity(certificate: X509Certificate): PeerIdentity {
  const names = alternativeNames(certificate.subjectAltName);
  const spiffeId = names.find((name) => name.startsWith('spiffe://')) ?? null;
  const workload = spiffeId === null ? null : SPIFFE_WORKLOAD.exec(spiffeId);
  return {
    identity: workload === null ? null : `${workload[1]}/${workload[2]}`,
    spiffeId,
    subjectAltNames: names,
    issuer: oneLine(certificate.issuer),
    subject: oneLine(certificate.subject),
    subjectCn: commonName(certificate.subject),
    certificate: certificate.toString(),
  };
}

/**
 * The values of Node's rendering (`DNS:a.test, URI:spiffe://…`), without their kinds. A value that could be mistaken for
 * the next entry arrives quoted as JSON.
 */
function alternativeNames(text: string | undefined): string[] {
  if (text === undefined) return [];
  const names: string[] = [];
  const entry = /(?:^|, )(?:DNS|URI|IP Address|email|DirName|othername|Registered ID):("(?:[^"\\]|\\.)*"|[^,]*)/gy;
  for (let found = entry.exec(text); found !== null; found = entry.exec(text)) {
    const value = found[1] ?? '';
    names.push(value.startsWith('"') ? unquoted(value) : value);
  }
  return names;
}

function unquoted(value: string): string {
  const parsed: unknown = JSON.parse(value);
  return typeof parsed === 'string' ? parsed : value;
}

/** `C=X, O=Y, CN=Z` of Node's one-attribute-a-line form. */
function oneLine(name: string): string {
  return name.split('\n').join(', ');
}

function commonName(subject: string): string | null {
  const line = subject.split('\n').findLast((part) => part.startsWith('CN='));
  return line === undefined ? null : line.slice('CN='.length);
}
