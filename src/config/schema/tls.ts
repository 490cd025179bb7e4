import { z } from 'zod';
import { notBuilt, notBuiltWhen, secretPem } from './marks.ts';
import { object, oneSpelling, withRule } from './build.ts';
import { pemSource } from './scalars.ts';

/** TLS versions as they are written; the two old ones are known so that their refusal can say why. */
export const tlsVersion = z
  .enum(['TLS_V1_0', 'TLS_V1_1', 'TLS_V1_2', 'TLS_V1_3'])
  .refine((version) => version !== 'TLS_V1_0' && version !== 'TLS_V1_1', {
    error: 'TLS 1.0 and TLS 1.1 are not secure and not supported: use TLS_V1_2 or TLS_V1_3',
  });

/** Names of cipher suites as IANA and the `TLS13_` aliases write them, to OpenSSL's. */
export const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS13_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS13_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS13_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES256-GCM-SHA384': 'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256': 'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305': 'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES256-GCM-SHA384': 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES128-GCM-SHA256': 'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-CHACHA20-POLY1305': 'ECDHE-RSA-CHACHA20-POLY1305',
};

export const cipherSuites = z
  .array(z.enum(Object.keys(CIPHER_SUITES)))
  .min(1)
  .describe('Cipher suites in order of preference, by IANA or OpenSSL name.');

export const keyExchangeGroups = z
  .array(z.enum(['X25519', 'P-256', 'P-384', 'X25519_MLKEM768']))
  .min(1)
  .describe('Key exchange groups in order of preference. Default: X25519, P-256, P-384, X25519_MLKEM768.');

const mode = notBuiltWhen(
  z.enum(['static', 'dynamicCa']),
  (value) => value === 'dynamicCa',
  'the TLS mode `dynamicCa`',
);

/** How a listener terminates TLS. */
export const tlsServer = withRule(
  object(
    'How a listener terminates TLS.',
    {
      mode: mode
        .optional()
        .describe(
          '`static`: one certificate; `dynamicCa`: `cert` and `key` are a CA that mints a certificate per server name.',
        ),
      cert: pemSource.optional().describe('Certificate chain, leaf first.'),
      key: secretPem(pemSource).optional().describe('Private key of the leaf.'),
      root: pemSource
        .optional()
        .describe('CA bundle for client certificates: with it, clients have to present one and it is verified.'),
      spiffe: notBuilt(
        z.strictObject({}).describe('Takes the identity from the SPIFFE Workload API.'),
        'the SPIFFE identity source',
      ),
      cipherSuites: cipherSuites.optional(),
      minTLSVersion: tlsVersion.optional().describe('Lowest TLS version.'),
      minTlsVersion: tlsVersion.optional().describe('Other spelling of `minTLSVersion`.'),
      maxTLSVersion: tlsVersion.optional().describe('Highest TLS version.'),
      maxTlsVersion: tlsVersion.optional().describe('Other spelling of `maxTLSVersion`.'),
      keyExchangeGroups: keyExchangeGroups.optional(),
    },
    'TlsServer',
  ),
  (tls, add) => {
    oneSpelling(tls, add, ['minTLSVersion', 'minTlsVersion']);
    oneSpelling(tls, add, ['maxTLSVersion', 'maxTlsVersion']);
    versionOrder(tls['minTLSVersion'] ?? tls['minTlsVersion'], tls['maxTLSVersion'] ?? tls['maxTlsVersion'], add);
    for (const key of ['cert', 'key']) {
      if (tls[key] === undefined)
        add(`\`${key}\` is required: \`tls\` needs \`cert\` and \`key\``, { code: 'GW_CONFIG_MISSING' });
    }
  },
);

/** The lowest version must not be above the highest. */
export function versionOrder(min: unknown, max: unknown, add: (message: string) => void): void {
  if (typeof min === 'string' && typeof max === 'string' && min > max)
    add(`the lowest TLS version (${min}) is above the highest (${max})`);
}

export type TlsServerSpec = z.output<typeof tlsServer>;
