import { openaiErrorOfGoogle } from '../google/error.ts';
import type { Translation } from '../contract.ts';
import { generateRequest } from './request.ts';
import { completionOf } from './response.ts';
import { CompletionChunks } from './stream.ts';

/** Clients of OpenAI chat completions at services that speak Gemini. */
export const completionsToGemini: Translation = {
  from: 'completions',
  to: 'generateContent',
  begin: (body, { model }, notes) => ({
    body: generateRequest(body, model, notes),
    response: (answer) => completionOf(answer, { model, nowMs: Date.now() }),
    stream: () => new CompletionChunks({ model, nowMs: Date.now() }),
    error: openaiErrorOfGoogle,
  }),
};
