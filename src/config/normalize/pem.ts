import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import { Secret } from '../../shared/secret.ts';
import type { PemSource, SecretPemSource } from '../ir/tls.ts';
import type { Path } from '../load/problem.ts';
import type { Context } from './context.ts';

export type PemSpec = string | { readonly file: string };

/** The text of a PEM source, read from its file when it names one. Undefined after a problem, or while the file is not read yet. */
function pemText(context: Context, spec: PemSpec, path: Path): PemSource | undefined {
  if (typeof spec === 'string' && spec.includes('-----BEGIN ')) return { pem: spec };
  const file = context.files.absolute(typeof spec === 'string' ? spec : spec.file);
  const content = context.files.get(file);
  if (content === undefined) return undefined;
  if (content.kind === 'text') return { pem: content.text, file };
  context.report(path, 'GW_CONFIG_FILE', content.message);
  return undefined;
}

/** Reads certificates: a chain, or a bundle of authorities. */
export function certificates(
  context: Context,
  spec: PemSpec,
  path: Path,
): { readonly source: PemSource; readonly chain: readonly X509Certificate[] } | undefined {
  const source = pemText(context, spec, path);
  if (source === undefined) return undefined;
  const blocks = source.pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) {
    context.report(
      path,
      'GW_CONFIG_TLS',
      `${nameOf(source)} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)`,
    );
    return undefined;
  }
  try {
    const chain = blocks.map((block) => new X509Certificate(block));
    warnOfDates(context, { source, chain, path });
    return { source, chain };
  } catch (error) {
    context.report(
      path,
      'GW_CONFIG_TLS',
      `${nameOf(source)} holds a certificate that cannot be read: ${messageOf(error)}`,
    );
    return undefined;
  }
}

/** Reads a private key. */
export function privateKey(
  context: Context,
  spec: PemSpec,
  path: Path,
): { readonly source: SecretPemSource; readonly key: KeyObject; readonly name: string } | undefined {
  const source = pemText(context, spec, path);
  if (source === undefined) return undefined;
  try {
    const key = createPrivateKey(source.pem);
    return {
      source: { pem: new Secret(source.pem), ...(source.file === undefined ? {} : { file: source.file }) },
      key,
      name: nameOf(source),
    };
  } catch {
    const encrypted = source.pem.includes('ENCRYPTED');
    const message = encrypted
      ? 'is encrypted with a passphrase, which is not supported'
      : 'holds no private key in PEM form (-----BEGIN PRIVATE KEY-----)';
    context.report(path, 'GW_CONFIG_TLS', `${nameOf(source)} ${message}`);
    return undefined;
  }
}

/** A certificate and the key that belongs to it; a problem that names both when it does not. */
export function keyPair(
  context: Context,
  specs: { readonly cert: PemSpec; readonly key: PemSpec },
  path: Path,
): { readonly cert: PemSource; readonly key: SecretPemSource } | undefined {
  const cert = certificates(context, specs.cert, [...path, 'cert']);
  const key = privateKey(context, specs.key, [...path, 'key']);
  const leaf = cert?.chain[0];
  if (cert === undefined || key === undefined || leaf === undefined) return undefined;
  if (!leaf.checkPrivateKey(key.key)) {
    context.report(
      [...path, 'key'],
      'GW_CONFIG_TLS',
      `the private key in ${key.name} does not belong to the certificate in ${nameOf(cert.source)}`,
      {
        hint: 'the first certificate of the file has to be the one that the key was made for',
      },
    );
    return undefined;
  }
  return { cert: cert.source, key: key.source };
}

function warnOfDates(
  context: Context,
  {
    source,
    chain,
    path,
  }: { readonly source: PemSource; readonly chain: readonly X509Certificate[]; readonly path: Path },
): void {
  for (const certificate of chain) {
    const now = context.host.now;
    const subject = certificate.subject.replaceAll('\n', ', ');
    if (certificate.validToDate < now) {
      context.report(
        path,
        'GW_CONFIG_TLS',
        `the certificate ${subject} in ${nameOf(source)} expired on ${certificate.validToDate.toISOString()}`,
        { severity: 'warning' },
      );
    } else if (certificate.validFromDate > now) {
      context.report(
        path,
        'GW_CONFIG_TLS',
        `the certificate ${subject} in ${nameOf(source)} is not valid before ${certificate.validFromDate.toISOString()}`,
        { severity: 'warning' },
      );
    }
  }
}

function nameOf(source: PemSource): string {
  return source.file ?? 'the text';
}
