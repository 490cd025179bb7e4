import { aiClients } from '../llm/matrix/clients/ai-sdk.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(aiClients.messages);
