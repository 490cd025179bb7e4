import type { LlmModel, ModelsBackend, VirtualModel } from '../../../src/config/ir/index.ts';
import { isNamedBy, isPattern, overlaps } from '../../../src/config/model-pattern.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { Expressions } from '../../expression/contract.ts';
import type { Random } from '../../routing/weighted.ts';
import type { ReadOptions } from '../read-body.ts';
import { type RouteTypes, typesOf } from '../route-type.ts';
import { listed, modelQuery, single, type ModelQuery } from './listing.ts';
import { modelDenied, modelNotAllowed, modelNotFound, rewriteFailed, targetNotFound } from './refusals.ts';
import { requestedModel, type Named, type ReadRequest } from './requested.ts';
import { rewriteForm, rewriteModel } from './rewrite.ts';
import { type Entry, isAllowed, ModelTable } from './table.ts';
import { compileVirtual, type Choose } from './virtual.ts';

/** What becomes of a request: `read` is its body as it is now, where it was read. */
export type Resolution<T> =
  | {
      readonly kind: 'target';
      readonly target: T;
      readonly read: ReadRequest | null;
      /** The virtual model whose choice it is, where the target serves others too. */
      readonly chosenBy: string | null;
    }
  | { readonly kind: 'respond'; readonly response: HttpResponse }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface RouterDeps<T> {
  readonly expressions: Expressions;
  readonly random: Random;
  readonly modelTarget: (model: LlmModel) => T;
  /** Of a virtual model with a backend of its own. */
  readonly virtualTarget: (model: VirtualModel) => T;
}

interface Asked {
  readonly read: ReadRequest | null;
  readonly chosenBy: string | null;
}

/** Finds what serves the model that a request names. `T` is what the engine calls. */
export class ModelRouter<T> {
  /** How formats of clients are told apart before a model is known. */
  readonly types: RouteTypes;
  readonly #table: ModelTable<T>;
  readonly #virtual: ReadonlyMap<string, Choose<T>>;
  /** Seconds since 1970 at the start of the process. */
  readonly #created: number;

  /** Throws a `GwError` for what cannot be compiled. */
  constructor({ models, virtualModels }: ModelsBackend, deps: RouterDeps<T>) {
    const { expressions, random, modelTarget, virtualTarget } = deps;
    this.types = typesOf({ models });
    this.#table = new ModelTable(
      models.map((model) => ({ model, target: modelTarget(model) })),
      expressions,
    );
    this.#virtual = new Map(
      virtualModels.map((model) => [
        model.name,
        compileVirtual(model, { expressions, random, targetOf: virtualTarget }),
      ]),
    );
    this.#created = Math.floor(Date.now() / 1000 - process.uptime());
  }

  async resolve(exchange: Exchange, options: ReadOptions): Promise<Resolution<T>> {
    const query = modelQuery(exchange);
    if (query !== undefined) return this.#list(exchange, query);
    const requested = await requestedModel(exchange, options);
    if (requested.kind === 'refused') return requested;
    const { name } = requested;
    if (!isKeyAllowed(exchange, name)) return refused(exchange, name, modelNotAllowed);
    const { attributes } = exchange;
    attributes.metadata = { ...attributes.metadata, gw_user_model: name };
    // Expressions see it while the model is looked for.
    attributes.llmRequest = requested.in === 'body' ? requested.read.json : null;
    const resolution = this.#resolve(exchange, requested);
    attributes.llmRequest = null;
    return resolution;
  }

  #resolve(exchange: Exchange, requested: Named): Resolution<T> {
    const { name } = requested;
    const read = requested.in === 'body' ? requested.read : null;
    const choose = this.#virtual.get(name);
    if (choose === undefined) {
      const found = this.#table.find(exchange, name, { internal: false });
      if (found.kind !== 'found') return refused(exchange, name, found.kind === 'denied' ? modelDenied : modelNotFound);
      report(exchange, name, `the model ${found.entry.model.name}`);
      return this.#served(exchange, found.entry, { read, chosenBy: null });
    }
    const choice = choose(exchange);
    if (choice.kind === 'refused') return refused(exchange, name, choice.refusal);
    if (choice.kind === 'backend') {
      report(exchange, name, 'a choice by priority and health');
      return { kind: 'target', target: choice.target, read, chosenBy: null };
    }
    const found = this.#table.find(exchange, choice.name, { internal: true });
    if (found.kind === 'denied') return refused(exchange, name, modelDenied);
    if (found.kind === 'unknown') return refused(exchange, name, targetNotFound(name, choice.name));
    report(exchange, name, `${choice.name}, by the model ${found.entry.model.name}`);
    const rewritten = rewriteModel(exchange.request, requested, choice.name);
    if (rewritten === 'failed') return refused(exchange, name, rewriteFailed);
    return this.#served(exchange, found.entry, { read: rewritten, chosenBy: name });
  }

  #served({ request }: Exchange, { model, target }: Entry<T>, { read, chosenBy }: Asked): Resolution<T> {
    const pinned = model.backend.groups[0]?.[0]?.model;
    if (read === null || read.json !== null || pinned === undefined) return { kind: 'target', target, read, chosenBy };
    return { kind: 'target', target, read: rewriteForm(request, read, pinned), chosenBy };
  }

  // ── lists ──

  #list(exchange: Exchange, query: ModelQuery): Resolution<T> {
    const { id } = query;
    if (id === undefined) {
      exchange.trace?.applied('llm', 'lists the models');
      return { kind: 'respond', response: listed(query, this.#visible(exchange), this.#created) };
    }
    const known = isKeyAllowed(exchange, id) && (this.#virtual.has(id) || this.#isVisible(exchange, id));
    if (!known) return refused(exchange, id, modelNotFound);
    return { kind: 'respond', response: single(query, id, this.#created) };
  }

  #isVisible(exchange: Exchange, id: string): boolean {
    const shown = this.#table.entries.filter(({ model }) => model.visibility === 'public' && isNamedBy(model.name, id));
    return shown.some((entry) => isAllowed(entry, exchange));
  }

  /** Names of models that the caller may use, then virtual ones; each once. */
  #visible(exchange: Exchange): readonly string[] {
    const allowed = exchange.attributes.apiKey?.allowedModels;
    const models = this.#table.entries
      .filter((entry) => entry.model.visibility === 'public' && isAllowed(entry, exchange))
      .flatMap(({ model }) => namesOf(model.name, allowed));
    const virtual = [...this.#virtual.keys()].filter((name) => isKeyAllowed(exchange, name));
    return [...new Set([...models, ...virtual])];
  }
}

/** The names under which a key sees a model: of a pattern, those that the key names, and the pattern where theirs meet. */
function namesOf(name: string, allowed: readonly string[] | undefined): readonly string[] {
  if (allowed === undefined) return [name];
  if (!isPattern(name)) return allowed.some((each) => isNamedBy(each, name)) ? [name] : [];
  const exact = allowed.filter((each) => !isPattern(each) && isNamedBy(name, each));
  return allowed.some((each) => isPattern(each) && overlaps(each, name)) ? [...exact, name] : exact;
}

function isKeyAllowed({ attributes: { apiKey } }: Exchange, name: string): boolean {
  const allowed = apiKey?.allowedModels;
  return allowed === undefined || allowed.some((each) => isNamedBy(each, name));
}

function refused<T>({ trace }: Exchange, name: string, refusal: Refusal): Resolution<T> {
  trace?.applied('llm', `${JSON.stringify(name)}: ${refusal.message}`, 'error');
  return { kind: 'refused', refusal };
}

function report({ trace }: Exchange, name: string, chosen: string): void {
  trace?.applied('llm', `${JSON.stringify(name)} is served by ${chosen}`);
}
