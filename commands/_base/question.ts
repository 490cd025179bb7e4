import type { ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import type { Cli } from './cli.ts';
import { readAll } from './trace/injection.ts';
import { usageError } from './usage-error.ts';

export interface QuestionPlace {
  readonly port: number | undefined;
  readonly source: string | undefined;
  /** Something else is read from stdin. */
  readonly stdinTaken?: boolean;
}

/** The request behind `--`, in curl's words, as a question. */
export async function questionOf(
  words: readonly string[],
  { stdinTaken = false, ...where }: QuestionPlace,
  cli: Cli,
): Promise<ExplainQuestion> {
  if (words.length === 0)
    throw usageError('there is no request behind --', 'gwctl explain -f config.yaml -- http://localhost/');
  const { parseCurlArgs } = await import('../../src/admin/inject/curl-args.ts');
  const { planRequest } = await import('../../src/admin/inject/plan.ts');
  const plan = await planRequest(parseCurlArgs(words), () => {
    if (stdinTaken) throw usageError('only one of the inputs can be stdin');
    return readAll(cli.stdin);
  });
  const { url, method, headers, body, httpVersion } = plan;
  return {
    method,
    scheme: url.protocol === 'https:' ? 'https' : 'http',
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers,
    body: body === undefined ? undefined : Buffer.from(body).toString('base64'),
    version: httpVersion === undefined || httpVersion === '1.1' ? 'HTTP/1.1' : 'HTTP/2.0',
    ...where,
  };
}
