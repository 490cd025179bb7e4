import { describe, expect, test } from '@jest/globals';

import { DryPolicies, DryServices } from '../../../../proxy/explain/dry-policies.ts';
import { jwtAuth } from '../../../../proxy/policy/jwt-auth/compile.ts';
import type { JwtAuth } from '../../../../src/config/ir/index.ts';
import { traced } from '../../exchange/build.ts';
import { provider } from '../../jwt/tokens.ts';
import { context, deps } from '../build.ts';

const SERVER = '/.well-known/oauth-authorization-server/mcp';

const spec: JwtAuth = {
  mode: 'strict',
  location: { kind: 'header', name: 'authorization', prefix: 'Bearer ' },
  preserveToken: false,
  providers: [provider([])],
  mcp: {
    issuer: 'https://issuer.test',
    provider: 'keycloak',
    resourceMetadata: {},
    metadataUrl: 'https://issuer.test/.well-known/openid-configuration',
    clientId: 'shop',
  },
};

describe('the logins of MCP clients', () => {
  test('call nobody where requests are only explained', async () => {
    const own = { ...deps(), dryRun: new DryPolicies(new DryServices()) };
    const step = jwtAuth(spec, context(own));
    const { exchange } = traced({ target: SERVER });
    expect(await step(exchange)).toMatchObject({ kind: 'respond', response: { status: 200 } });
    const registering = traced({ target: `${SERVER}/client-registration`, method: 'POST' });
    expect(await step(registering.exchange)).toMatchObject({ kind: 'respond', response: { status: 201 } });
  });

  test('say at once whether a request is let in', () => {
    const step = jwtAuth(spec, context());
    const { exchange, policies } = traced({ target: '/mcp', authority: 'mcp.test' });
    expect(step(exchange)).toMatchObject({ kind: 'fail', refusal: { status: 401, reason: 'JwtAuth' } });
    expect(policies.join('\n')).toContain(
      'client sent to http://mcp.test/.well-known/oauth-protected-resource/mcp (from route default/r1)',
    );
  });
});
