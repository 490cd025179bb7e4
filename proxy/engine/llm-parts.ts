/** What serves language models, for configurations that have some; see `load.ts`. */
export { envelopeFor } from '../llm/envelope.ts';
export { ModelRouter } from '../llm/models/router.ts';
export { preloadEncodings } from '../llm/tokens/preload.ts';
export { LlmBackend } from './llm-backend.ts';
