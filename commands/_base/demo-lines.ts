import type { TraceFrame } from '../../src/admin/client/trace-frames.ts';
import { groupRequests } from '../../src/admin/client/request-groups.ts';
import { clean } from '../../ui/terminal/text.ts';
import { spentText } from '../../ui/trace/chat.ts';
import { factsOf, operationOf, rpcProblem, shortRoute, type RequestFacts } from '../../ui/trace/request.ts';
import { formatMicros } from '../../ui/trace/timing.ts';

/** Columns that most paths fit in, so that what follows stands in a column. */
const PATH = 20;

/** One line for each request of a follow stream, when it has ended. */
export async function* requestLines(frames: AsyncIterable<TraceFrame>): AsyncGenerator<string> {
  for await (const group of groupRequests(frames)) yield requestLine(factsOf(group.map(({ event }) => event)));
}

function requestLine(facts: RequestFacts): string {
  const { method, path, status, route, backend, totalUs, error, startTime, chat } = facts;
  const way = route === null || route === undefined ? 'no route' : `route ${shortRoute(route)}`;
  const retried = facts.backendCalls > 1 ? ` (${facts.backendCalls} calls)` : '';
  const target = backend === undefined ? '' : ` → ${backend}${retried}`;
  const failure = error === undefined ? '' : `  ${error}`;
  const operation = operationOf(facts);
  const problem = rpcProblem(facts);
  const rpc = [operation, problem ?? ''].filter(Boolean).join(': ');
  const model =
    chat === undefined
      ? rpc === ''
        ? ''
        : `  ${rpc}`
      : `  ${[chat.model, spentText(chat)].filter(Boolean).join(', ')}`;
  const time = (startTime ?? '').slice(11, 23);
  return clean(
    `${time}  ${status ?? '---'}  ${(method ?? '').padEnd(7)} ${(path ?? '').padEnd(PATH)}  ${way}${target}  ${formatMicros(totalUs)}${model}${failure}`,
  );
}
