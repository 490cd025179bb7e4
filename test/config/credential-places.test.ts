import { expect, test } from '@jest/globals';

import { credentialPlaces } from '../../src/config/credential-places.ts';
import { loadConfig } from '../../src/config/index.ts';

test('the places of credentials are found wherever a policy stands', async () => {
  const text = `
gateways:
  default:
    port: 8080
    listeners:
    - {name: main, protocol: HTTP, apiKey: {keys: [], location: {header: {name: X-Gateway-Key}}}}
routes:
- matches: [{headers: [{name: x-plain, value: {exact: a}}], query: [{name: page, value: {exact: b}}]}]
  policies: {apiKey: {keys: [{key: k, metadata: {location: {kind: header, name: x-home}}}], location: {queryParameter: {name: "the key"}}}}
routeGroups:
- name: g
  routes: [{policies: {basicAuth: {htpasswd: "ann:abNANd1rDfiNc", authorizationLocation: {cookie: {name: c}}}}}]
policies:
- name: {name: p, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  policy: {apiKey: {keys: [], location: {header: {name: x-targeted}}}}
`;
  const { config } = await loadConfig({ kind: 'text', text, name: 'test.yaml' }, { env: {} });
  expect(credentialPlaces(config)).toEqual({ headers: ['x-gateway-key', 'x-targeted'], parameters: ['the key'] });
});
