import type { VirtualModel } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { Expressions } from '../../expression/contract.ts';
import { WeightedPick, type Random } from '../../routing/weighted.ts';
import { noMatchingTarget, notResolved } from './refusals.ts';

/** What a name that stands for others stands for: the name of a model, or a backend of several. */
export type Choice<T> =
  | { readonly kind: 'model'; readonly name: string }
  | { readonly kind: 'backend'; readonly target: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export type Choose<T> = (exchange: Exchange) => Choice<T>;

export interface VirtualDeps<T> {
  readonly expressions: Expressions;
  readonly random: Random;
  /** Of a failover model. */
  readonly targetOf: (model: VirtualModel) => T;
}

/** Throws a `GwError` for an expression that is none. */
export function compileVirtual<T>(model: VirtualModel, { expressions, random, targetOf }: VirtualDeps<T>): Choose<T> {
  const { name, routing } = model;
  switch (routing.kind) {
    case 'failover': {
      const choice: Choice<T> = { kind: 'backend', target: targetOf(model) };
      return () => choice;
    }
    case 'weighted': {
      const pick = new WeightedPick(routing.targets, ({ weight }) => weight);
      const nothing: Choice<T> = { kind: 'refused', refusal: notResolved(name) };
      return () => {
        const target = pick.choose(random);
        return target === undefined ? nothing : { kind: 'model', name: target.model };
      };
    }
    case 'conditional': {
      const targets = routing.targets.map(({ model: chosen, when }, index) => ({
        choice: { kind: 'model', name: chosen } as const,
        when: when === undefined ? null : expressions.compile(when, `virtual model ${name} when[${index}]`),
      }));
      const nothing: Choice<T> = { kind: 'refused', refusal: noMatchingTarget(name) };
      return (exchange) => targets.find(({ when }) => when === null || when.isTrue(exchange))?.choice ?? nothing;
    }
  }
}
