import { allBackends, servesMcp } from '../../src/config/all-backends.ts';
import type { AiBackend, AiProvider, GatewayConfig, ModelsBackend } from '../../src/config/ir/index.ts';
import { Engine, type EngineOptions } from './engine.ts';

/**
 * Compiles a configuration. What serves language models is a third of the engine's code, and is loaded with the first
 * configuration that has some. Throws a `GwError` for anything that cannot be compiled.
 */
export async function loadEngine(config: GatewayConfig, options: Omit<EngineOptions, 'llm' | 'mcp'>): Promise<Engine> {
  const llm = servesModels(config) ? await import('./llm-parts.ts') : null;
  const mcp = servesMcp(config) ? await import('./mcp-parts.ts') : null;
  return new Engine(config, { ...options, llm, mcp });
}

function servesModels(config: GatewayConfig): boolean {
  for (const { kind } of allBackends(config)) if (kind === 'ai' || kind === 'models') return true;
  return false;
}

/** Every service of language models that a configuration has. */
export function* aiProviders(config: GatewayConfig): Generator<AiProvider> {
  for (const backend of allBackends(config)) {
    if (backend.kind === 'ai') yield* backend.groups.flat();
    else if (backend.kind === 'models') for (const { groups } of modelBackends(backend)) yield* groups.flat();
  }
}

function* modelBackends({ models, virtualModels }: ModelsBackend): Generator<AiBackend> {
  for (const { backend } of models) yield backend;
  for (const { routing } of virtualModels) if (routing.kind === 'failover') yield routing.backend;
}
