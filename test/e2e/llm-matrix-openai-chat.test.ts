import { openaiChat } from '../llm/matrix/clients/openai-chat.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(openaiChat);
