import { GwError } from '../../src/shared/errors.ts';

/** AES-GCM with forward secrecy; ChaCha20 takes part only when it is named. */
export const DEFAULT_CIPHER_SUITES: readonly string[] = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES128-GCM-SHA256',
];

/** OpenSSL names of the suites that a listener may offer, by their IANA names. */
const OPENSSL_NAMES: Readonly<Record<string, string>> = {
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
};

const KNOWN = new Set(Object.values(OPENSSL_NAMES));

/** The name that OpenSSL uses for a suite written as IANA, as `TLS13_*` or as OpenSSL spells it; undefined when unknown. */
export function opensslCipherName(name: string): string | undefined {
  const upper = name.toUpperCase();
  const iana = upper.startsWith('TLS13_') ? `TLS_${upper.slice('TLS13_'.length)}` : upper;
  return OPENSSL_NAMES[iana] ?? (KNOWN.has(upper) ? upper : undefined);
}

/** The list as OpenSSL takes it, order kept. */
export function cipherList(names: readonly string[]): string {
  return names
    .map((name) => {
      const known = opensslCipherName(name);
      if (known === undefined) {
        throw new GwError(`unknown cipher suite ${JSON.stringify(name)}`, {
          code: 'GW_TLS_CIPHER',
          hint: `use one of ${Object.keys(OPENSSL_NAMES).join(', ')}`,
        });
      }
      return known;
    })
    .join(':');
}
