import { anthropic } from '../llm/matrix/clients/anthropic.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(anthropic);
