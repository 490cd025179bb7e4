import { z } from 'zod';

/** `ai`: settings of language model traffic. */
export const ai = z
  .record(z.string(), z.unknown())
  .meta({ id: 'AiPolicy', description: 'Settings of language model traffic: prompts, guards, defaults.' });
