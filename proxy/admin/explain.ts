import { decodeQuestion } from '../../src/admin/protocol/decode-explanation.ts';
import type { ExplainQuestion, Explanation } from '../../src/admin/protocol/explanation.ts';
import { GwError } from '../../src/shared/errors.ts';
import { json, notLive, type Endpoint } from './endpoint.ts';
import { badParameter } from './router.ts';

/** `/debug/explain`: what the live configuration would do with a request, without doing it. */
export function explainEndpoint(explain: (question: ExplainQuestion) => Promise<Explanation | null>): Endpoint {
  return {
    path: '/debug/explain',
    methods: ['POST'],
    summary: 'What would happen to the request in the body (JSON), without doing any of it',
    guarded: ['POST'],
    async handle({ body }) {
      const question = decodeQuestion(parse(await body()));
      if (typeof question === 'string') throw badParameter(question);
      try {
        const explanation = await explain(question);
        return explanation === null ? notLive() : json(explanation);
      } catch (error) {
        if (error instanceof GwError && error.code.startsWith('GW_EXPLAIN')) throw badParameter(error.message);
        throw error;
      }
    },
  };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw badParameter('the body is not JSON');
  }
}
