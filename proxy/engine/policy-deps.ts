import { LogFilter, Logger } from '../../src/shared/log.ts';
import { credentialPlaces } from '../../src/config/credential-places.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';
import type { Expressions } from '../expression/contract.ts';
import { createExpressions, type ExpressionOptions } from '../expression/expressions.ts';
import { EndpointStore } from '../backends/endpoint-store.ts';
import { EndpointView } from '../backends/endpoint-view.ts';
import type { BackendTable } from '../backends/resolve.ts';
import type { Services } from '../services/contract.ts';
import { createServices } from '../services/services.ts';

/** Expressions under the settings of a configuration. */
export function expressionsOf(config: GatewayConfig): Expressions {
  return createExpressions(expressionOptions(config));
}

export function expressionOptions(config: GatewayConfig): ExpressionOptions {
  const { workloads } = config;
  const { sensitiveHeaders, customFunctions, env } = config.process;
  return { sensitiveHeaders, customFunctions, env, workloads, hidden: credentialPlaces(config) };
}

/** For compiling only: references to services are checked, nothing is called. */
export function uncalledServices(backends: BackendTable): Services {
  return createServices({
    backends,
    endpoints: new EndpointView(new EndpointStore(1).buffer),
    duration: null,
    pools: () => {
      throw new Error('an engine that is only compiled calls no service');
    },
  });
}

/** For compiling only: what policies would log has no reader. */
export function silentLog(): Logger {
  const filter = LogFilter.parse('off');
  if (typeof filter === 'string') throw new TypeError(filter);
  return new Logger({ filter, format: 'text', write() {} });
}
