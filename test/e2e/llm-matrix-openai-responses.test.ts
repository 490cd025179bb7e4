import { openaiResponses } from '../llm/matrix/clients/openai-responses.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(openaiResponses);
