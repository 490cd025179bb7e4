import type { AgentCoreBackend, BackendAuth, BackendPolicies, BackendTls } from '../../src/config/ir/index.ts';
import { pathOf, type HttpRequest } from '../exchange/message.ts';

/** The name that signatures carry. */
const SERVICE = 'bedrock-agentcore';
const CARD = /\/\.well-known\/agent(?:-card)?\.json$/;
const SYSTEM_ROOTS: BackendTls = { verify: 'full' };

/** Where agents of a region are. */
export function agentCoreHost({ arn, region }: AgentCoreBackend): string {
  const domain = arn.startsWith('arn:aws-cn:') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `${SERVICE}.${region}.${domain}`;
}

/** Path and query of the agent, which requests take in place of their own; one for its card asks for that below it. */
export function agentCoreTarget({ arn, qualifier }: AgentCoreBackend): (request: HttpRequest) => string {
  const path = `/runtimes/${escaped(arn)}/invocations`;
  const query = qualifier === undefined ? '' : `?qualifier=${qualifier}`;
  const invocations = path + query;
  return ({ method, target }) => {
    const card = method === 'GET' ? CARD.exec(pathOf(target)) : null;
    return card === null ? invocations : path + card[0] + query;
  };
}

/** What holds where nobody says otherwise: TLS, and a signature with the keys of the environment. */
export function agentCorePolicies(policies: BackendPolicies, { region }: AgentCoreBackend): BackendPolicies {
  const { backendTLS = SYSTEM_ROOTS, backendAuth } = policies;
  return { ...policies, backendTLS, backendAuth: authOf(backendAuth, region) };
}

/** The kind of credential is the user's to choose; what a signature lacks is known here. */
function authOf(auth: BackendAuth | undefined, region: string): BackendAuth {
  const usual = { kind: 'aws', credentials: { kind: 'ambient' }, region, serviceName: SERVICE } as const;
  if (auth === undefined) return { main: usual, credentials: [] };
  const { main } = auth;
  if (main?.kind !== 'aws') return auth;
  return { ...auth, main: { ...main, region: main.region ?? region, serviceName: main.serviceName ?? SERVICE } };
}

function escaped(text: string): string {
  return text.replace(/[^A-Za-z0-9]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
