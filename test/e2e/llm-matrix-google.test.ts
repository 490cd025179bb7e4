import { google } from '../llm/matrix/clients/google.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(google);
