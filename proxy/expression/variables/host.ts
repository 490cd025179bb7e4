import type { Host, Variable } from '../../../src/cel/compile/host.ts';
import { variableNames } from '../../../src/cel/variable-names.ts';
import { RecordMap } from '../../../src/cel/value/map.ts';
import type { EvalContext } from '../contract.ts';
import { destinationVariable, sourceVariable, type WorkloadFacts } from './connection.ts';
import { apiKeyVariable, basicAuthVariable, jsonVariable, jwtVariable, metadataVariable } from './credentials.ts';
import { llmVariable } from './llm.ts';
import { mcpVariable } from './mcp.ts';
import { requestVariable, responseVariable, type IsSensitive } from './message.ts';
import { backendVariable, proxyVariable } from './progress.ts';

/** Where the gateway runs, as its environment tells. */
export interface EnvironmentFacts {
  readonly podName?: string | undefined;
  readonly namespace?: string | undefined;
  readonly gateway?: string | undefined;
}

export interface HostFacts {
  readonly env?: EnvironmentFacts | undefined;
  readonly workloads?: readonly WorkloadFacts[] | undefined;
}

/** Every variable. */
export function gatewayHost(facts: HostFacts, isSensitive: IsSensitive): Host<EvalContext> {
  const { env = {}, workloads = [] } = facts;
  const environment = new RecordMap({ podName: env.podName, namespace: env.namespace, gateway: env.gateway });
  // Names that have no reader are null.
  const absent: Variable<EvalContext> = { read: () => null };
  const known = new Map<string, Variable<EvalContext>>([
    ['request', requestVariable(isSensitive)],
    ['response', responseVariable(isSensitive)],
    ['proxy', proxyVariable],
    ['env', { read: () => environment, fields: ['podName', 'namespace', 'gateway'] }],
    ['jwt', jwtVariable],
    ['apiKey', apiKeyVariable],
    ['basicAuth', basicAuthVariable],
    ['source', sourceVariable(workloads)],
    ['destination', destinationVariable],
    ['backend', backendVariable],
    ['extauthz', jsonVariable((attributes) => attributes.extauthz)],
    ['extproc', jsonVariable((attributes) => attributes.extproc)],
    ['metadata', metadataVariable],
    ['llm', llmVariable],
    ['llmRequest', jsonVariable((attributes) => attributes.llmRequest)],
    ['mcp', mcpVariable],
    ['mcpGuardrails', jsonVariable((attributes) => attributes.mcpGuardrails)],
  ]);
  const variables = new Map(variableNames.map((name) => [name, known.get(name) ?? absent]));
  return { variable: (name) => variables.get(name), variables: variableNames };
}
