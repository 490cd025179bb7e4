import { bedrock } from '../llm/matrix/clients/bedrock.ts';
import { column } from '../llm/matrix/columns.ts';
import { tryEverything } from '../llm/matrix/run.ts';

tryEverything(bedrock, [column('bedrock')]);
