import type { BasicAuth } from '../../ir/policy/basic-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { BasicAuthSpec } from '../../schema/policy/basic-auth.ts';
import type { Context } from '../context.ts';
import { secretText } from '../secret-text.ts';
import { basicLocation, credentialLocation } from './credential-location.ts';
import { parseHtpasswd } from './htpasswd.ts';

export function basicAuth(context: Context, spec: BasicAuthSpec, path: Path): BasicAuth {
  const at = [...path, 'htpasswd'];
  const text = secretText(context, spec.htpasswd, at);
  const { users, problems } = parseHtpasswd(text?.reveal() ?? '');
  for (const { line, message } of problems)
    context.report(at, 'GW_CONFIG_VALUE', `line ${line} ${message}`, { severity: 'warning' });
  if (text !== undefined && users.length === 0)
    context.report(at, 'GW_CONFIG_VALUE', 'there is no user in it: nobody can log in', { severity: 'warning' });
  return {
    mode: spec.mode,
    realm: spec.realm ?? 'Restricted',
    location: credentialLocation(spec.authorizationLocation, basicLocation),
    users,
  };
}
