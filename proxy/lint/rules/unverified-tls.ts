import type { Found, LintRule } from '../finding.ts';
import { isMap, under } from '../walk.ts';

/** TLS that does not know who it talks to. */
export const unverifiedTls: LintRule = {
  code: 'GW_LINT_UNVERIFIED_TLS',
  severity: 'warning',
  summary: '`backendTLS` does not verify the certificate, or not its name',
  check: ({ raw }) =>
    [...under(raw, 'backendTLS')].flatMap(({ path, value }) =>
      ['insecure', 'insecureHost'].flatMap((key): Found[] => {
        if (!isMap(value) || value[key] !== true) return [];
        const what = key === 'insecure' ? 'any certificate is taken' : 'a certificate of any name is taken';
        return [
          {
            path: [...path, key],
            message: `${what}: somebody in between can read and change everything`,
            hint: 'give the authority with `root`, and the name with `hostname` or `subjectAltNames`',
          },
        ];
      }),
    ),
};
