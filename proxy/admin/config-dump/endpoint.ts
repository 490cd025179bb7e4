import { hideCredentials } from '../../../src/shared/credentials.ts';
import { Redaction } from '../../telemetry/redaction.ts';
import { json, notLive, type Endpoint } from '../endpoint.ts';
import { configDump, type DumpFacts } from './dump.ts';

/** `/config_dump`: everything that is loaded, secrets redacted, with live endpoint numbers; 503 before the first configuration is live. */
export function configDumpEndpoint(facts: () => Promise<DumpFacts | null>): Endpoint {
  return {
    path: '/config_dump',
    methods: ['GET'],
    summary: 'Everything that is loaded, with the live state of endpoints',
    handle: async () => {
      const known = await facts();
      return known === null ? notLive() : json(shownDump(known));
    },
  };
}

/** The dump as anybody may see it. */
export function shownDump(facts: DumpFacts): unknown {
  const redaction = new Redaction(facts.config.process.sensitiveHeaders);
  return hideCredentials(configDump(facts), (name) => redaction.isSensitive(name));
}
