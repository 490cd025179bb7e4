import { z } from 'zod';
import { object, withRule } from '../build.ts';
import { fileInlineOrRemote, secretText } from '../scalars.ts';

const EXPLICIT = ['authorizationEndpoint', 'tokenEndpoint', 'jwks'] as const;

/** `oidc`: logs users in with OpenID Connect. */
export const oidc = withRule(
  object(
    'Logs users in with OpenID Connect. Needs the environment variable `OIDC_COOKIE_SECRET`: 64 hexadecimal digits.',
    {
      issuer: z
        .string()
        .min(1)
        .max(2048)
        .describe('Address of the provider, compared byte for byte with its documents and tokens.'),
      clientId: z.string().min(1),
      clientSecret: secretText,
      redirectURI: z.string().min(1).max(2048).describe('Absolute address of the callback, with a path.'),
      discovery: fileInlineOrRemote
        .optional()
        .describe('Discovery document. Default: /.well-known/openid-configuration of the issuer.'),
      authorizationEndpoint: z.string().min(1).optional().describe('Where browsers are sent to log in.'),
      tokenEndpoint: z.string().min(1).optional().describe('Where the gateway exchanges the code for a token.'),
      jwks: fileInlineOrRemote.optional().describe('Key set of the provider.'),
      tokenEndpointAuth: z
        .enum(['clientSecretBasic', 'clientSecretPost'])
        .optional()
        .describe('How the gateway shows its secret, without discovery. Default: clientSecretBasic.'),
      scopes: z.array(z.string().min(1)).default([]).describe('`openid` is always asked for.'),
    },
    'Oidc',
  ),
  (keys, add) => {
    const given = EXPLICIT.filter((name) => keys[name] !== undefined);
    if (given.length > 0 && given.length < EXPLICIT.length) {
      const missing = EXPLICIT.find((name) => keys[name] === undefined) ?? '';
      add(
        `\`oidc\` takes \`authorizationEndpoint\`, \`tokenEndpoint\` and \`jwks\` together: \`${missing}\` is missing`,
        {
          code: 'GW_CONFIG_MISSING',
        },
      );
    }
    if (given.length > 0 && keys['discovery'] !== undefined) {
      add('`oidc` takes either `discovery` or the endpoints', { at: 'discovery', code: 'GW_CONFIG_CONFLICT' });
    }
    if (given.length === 0 && keys['tokenEndpointAuth'] !== undefined) {
      add('`tokenEndpointAuth` is told by the discovery document: it belongs to explicit endpoints', {
        at: 'tokenEndpointAuth',
        code: 'GW_CONFIG_CONFLICT',
      });
    }
  },
);

export type OidcSpec = z.output<typeof oidc>;
