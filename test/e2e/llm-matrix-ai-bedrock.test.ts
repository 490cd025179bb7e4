import { aiClients } from '../llm/matrix/clients/ai-sdk.ts';
import { column } from '../llm/matrix/columns.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(aiClients.converse, [column('bedrock')]);
