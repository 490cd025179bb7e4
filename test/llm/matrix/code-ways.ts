import { providerOf } from '../../../proxy/llm/providers/registry.ts';
import type { Plan } from '../../../proxy/llm/providers/contract.ts';
import { upstreamFormat } from '../../../proxy/llm/providers/plan.ts';
import type { UpstreamFormat } from '../../../proxy/llm/formats.ts';
import { type LlmRouteType, type LlmService, loadConfig } from '../../../src/config/index.ts';
import type { BodyWay } from './table.ts';
import { configuration } from './world.ts';

/** How a provider is asked, as the code chooses. */
export interface CodeWay {
  readonly plan: Plan;
  /** Null for what is no chat. */
  readonly upstream: UpstreamFormat | null;
  readonly body: BodyWay;
}

export type WayOf = (service: LlmService, model: string, type: LlmRouteType) => CodeWay | null;

/** Null where the client is refused. */
export const wayOfService: WayOf = (service, model, type) => {
  const plan = providerOf(service, { model, authLocated: false }).plan({ routeType: type, model, streaming: false });
  if (plan.kind === 'unsupported') return null;
  return { plan, upstream: upstreamFormat(plan), body: bodyWay(plan) };
};

function bodyWay(plan: Plan): BodyWay {
  if (plan.kind === 'local') return 'local';
  return plan.kind === 'reshaped' ? 'own' : 'native';
}

/** The same for the columns, which are read as the gateway reads them. */
export async function chosenWays(): Promise<{ ways(column: string, type: LlmRouteType): CodeWay | null }> {
  const text = configuration(() => 1);
  const { config } = await loadConfig({ kind: 'text', text, name: 'matrix.yaml' }, { env: {} });
  const models = config.backends.flatMap(({ backend }) => (backend.kind === 'models' ? backend.models : []));
  return {
    ways(column, type) {
      const provider = models.find(({ name }) => name === column)?.backend.groups[0]?.[0];
      if (provider === undefined) throw new Error(`no model ${column}`);
      return wayOfService(provider.service, provider.model ?? '', type);
    },
  };
}
