import type { AiBackend, LlmModel, VirtualModel } from '../../ir/llm.ts';
import type { LlmSpec, LlmVirtualModelSpec } from '../../schema/llm.ts';
import type { Path } from '../../load/problem.ts';
import { isNamedBy } from '../../model-pattern.ts';
import type { Context } from '../context.ts';

export interface ModelList {
  /** As the file has them: a broken one is there too. */
  readonly names: readonly string[];
  /** In the order in which they are tried. */
  readonly models: readonly LlmModel[];
}

/** The entries of `virtualModels`; those whose targets lead nowhere are left out, after a problem. */
export function virtualModels(context: Context, section: LlmSpec, list: ModelList): VirtualModel[] {
  const seen = new Map<string, number>();
  return section.virtualModels.flatMap((spec, index) => {
    const path: Path = ['llm', 'virtualModels', index];
    const earlier = seen.get(spec.name);
    if (earlier === undefined) seen.set(spec.name, index);
    else
      context.report(
        [...path, 'name'],
        'GW_CONFIG_CONFLICT',
        `llm.virtualModels[${earlier}] is called ${JSON.stringify(spec.name)} already`,
      );
    const virtuals = section.virtualModels.map(({ name }) => name);
    return checkTargets(context, spec, { list, virtuals, path }) ? [virtualModel(spec, list.models)] : [];
  });
}

interface Known {
  readonly list: ModelList;
  readonly virtuals: readonly string[];
  readonly path: Path;
}

function checkTargets(context: Context, { routing }: LlmVirtualModelSpec, { list, virtuals, path }: Known): boolean {
  const [kind = '', { targets } = { targets: [] }] =
    Object.entries(routing).find(([, value]) => value !== undefined) ?? [];
  const at = [...path, 'routing', kind, 'targets'];
  const lost = targets.flatMap(({ model }, index) =>
    list.names.some((name) => isNamedBy(name, model)) ? [] : [{ model, index }],
  );
  for (const { model, index } of lost) {
    const hint = virtuals.includes(model)
      ? 'targets are models, not other virtual models'
      : 'declare it under `llm.models`';
    const message = `there is no model ${JSON.stringify(model)}`;
    context.report([...at, index, 'model'], 'GW_CONFIG_REFERENCE', message, { hint });
  }
  return lost.length === 0;
}

function virtualModel({ name, routing }: LlmVirtualModelSpec, models: readonly LlmModel[]): VirtualModel {
  const { weighted, failover, conditional } = routing;
  if (weighted !== undefined) return { name, routing: { kind: 'weighted', targets: weighted.targets } };
  if (conditional !== undefined) return { name, routing: { kind: 'conditional', targets: conditional.targets } };
  const targets = failover?.targets ?? [];
  return { name, routing: { kind: 'failover', targets, backend: failoverBackend(name, targets, models) } };
}

type FailoverTarget = Extract<VirtualModel['routing'], { kind: 'failover' }>['targets'][number];

/** One group for each priority, whose members ask for the target unless their model asks for another. */
function failoverBackend(name: string, targets: readonly FailoverTarget[], models: readonly LlmModel[]): AiBackend {
  const key = `/llm:virtual-model:${name}`;
  const priorities = [...new Set(targets.map(({ priority }) => priority))].toSorted((left, right) => left - right);
  const members = targets.flatMap((target, index) => {
    const fitting = models.filter((model) => isNamedBy(model.name, target.model));
    const model = fitting.find(({ matches }) => matches.length === 0) ?? fitting[0];
    const provider = model?.backend.groups[0]?.[0];
    if (model === undefined || provider === undefined) return [];
    const { authorization } = model;
    const member = {
      ...provider,
      name: `${target.model}:${index}`,
      key: `${key}:${index}`,
      standsFor: model.backend.key,
      model: provider.model ?? target.model,
      policies: { ...provider.policies, ...(authorization === undefined ? {} : { authorization }) },
    };
    return [{ priority: target.priority, member }];
  });
  const groups = priorities.map((wanted) =>
    members.filter(({ priority }) => priority === wanted).map(({ member }) => member),
  );
  return { kind: 'ai', key, groups: groups.filter((group) => group.length > 0) };
}
