import type { Backend, GatewayConfig, HttpRoute } from '../../src/config/ir/index.ts';
import { Engine, type EngineOptions } from './engine.ts';

/**
 * Compiles a configuration. What serves language models is a third of the engine's code, and is loaded with the first
 * configuration that has some. Throws a `GwError` for anything that cannot be compiled.
 */
export async function loadEngine(config: GatewayConfig, options: Omit<EngineOptions, 'llm'>): Promise<Engine> {
  const llm = servesModels(config) ? await import('./llm-parts.ts') : null;
  return new Engine(config, { ...options, llm });
}

function servesModels({ backends, binds, routeGroups }: GatewayConfig): boolean {
  if (backends.some(({ backend }) => isModels(backend))) return true;
  const listeners = binds.flatMap((bind) => bind.listeners);
  return (
    listeners.some(({ routes }) => routes.some(hasModels)) || routeGroups.some(({ routes }) => routes.some(hasModels))
  );
}

function hasModels({ backends }: HttpRoute): boolean {
  return backends.some(({ target }) => target.kind === 'inline' && isModels(target.backend));
}

function isModels({ kind }: Backend): boolean {
  return kind === 'ai' || kind === 'models';
}
