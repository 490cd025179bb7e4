import { z } from 'zod';
import { object, withRule } from '../build.ts';
import { notBuilt, secretPem } from '../marks.ts';
import { pemSource, shortString, singleHostname } from '../scalars.ts';
import { keyExchangeGroups } from '../tls.ts';

/** `backendTLS`: connects to the backend with TLS. */
export const backendTls = withRule(
  object(
    'Connects to the backend with TLS.',
    {
      cert: pemSource.optional().describe('Client certificate chain; together with `key`.'),
      key: secretPem(pemSource).optional().describe('Private key of the client certificate.'),
      root: pemSource
        .optional()
        .describe('CA bundle that the backend is verified against. Default: the roots of the system.'),
      hostname: singleHostname.optional().describe('Server name sent and verified. Default: the host that is dialled.'),
      insecure: z.boolean().default(false).describe('Verifies nothing.'),
      insecureHost: z.boolean().default(false).describe('Verifies the chain, not the name.'),
      alpn: z
        .array(z.string().min(1).max(255))
        .min(1)
        .max(16)
        .optional()
        .describe('Protocols offered. Default: h2 and http/1.1.'),
      subjectAltNames: z
        .array(shortString)
        .min(1)
        .max(16)
        .optional()
        .describe('Names accepted in place of the host name: DNS names, IP addresses or URIs.'),
      keyExchangeGroups: keyExchangeGroups.optional(),
      spiffe: notBuilt(
        z.strictObject({}).describe('Takes the identity from the SPIFFE Workload API.'),
        'the SPIFFE identity source',
      ),
    },
    'BackendTls',
  ),
  (tls, add) => {
    const { cert, key } = tls;
    if ((cert === undefined) !== (key === undefined)) {
      add('`cert` and `key` go together', { at: cert === undefined ? 'key' : 'cert', code: 'GW_CONFIG_MISSING' });
    }
    if (tls['subjectAltNames'] !== undefined && (tls['insecure'] === true || tls['insecureHost'] === true)) {
      add('`subjectAltNames` verifies names, `insecure` and `insecureHost` do not: use one of them', {
        at: 'subjectAltNames',
        code: 'GW_CONFIG_CONFLICT',
      });
    }
  },
);

export type BackendTlsSpec = z.output<typeof backendTls>;
