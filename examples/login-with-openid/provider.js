// An OpenID provider to try logins with: node examples/login-with-openid/provider.js PORT
// Whoever gives a name gets in. In earnest the provider is that of your organisation.
import { Provider } from 'oidc-provider';

const [port] = process.argv.slice(2);
const provider = new Provider(`http://localhost:${port}`, {
  clients: [
    {
      client_id: 'shop',
      client_secret: 'the-secret-of-the-shop',
      redirect_uris: ['http://localhost:8080/oauth/callback'],
    },
  ],
  cookies: { keys: ['for trying only'] },
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email'] },
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.test` }) }),
});
provider.listen(Number(port));
