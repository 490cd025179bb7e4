import type { ExplainQuestion, Explanation } from '../../src/admin/protocol/explanation.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { silentLog } from '../engine/policy-deps.ts';
import { RemoteResources } from '../resources/remote-resources.ts';
import { explainRequest } from './explain.ts';

/**
 * Explains a request to a configuration that nothing runs. Key sets behind addresses are fetched, since a token means
 * nothing without them, other documents are not: no service of theirs is asked. `warn` is told when one is not there.
 */
export async function explainFile(
  config: GatewayConfig,
  question: ExplainQuestion,
  warn: (text: string) => unknown,
): Promise<Explanation> {
  const resources = RemoteResources.open(silentLog().scope('resources'), () => {});
  try {
    await resources
      .load(config, ({ content }) => content !== 'openApi')
      .catch((error: unknown) => warn(messageOf(error)));
    return await explainRequest(config, question, { contents: resources.contents(config) });
  } finally {
    resources.close();
  }
}
