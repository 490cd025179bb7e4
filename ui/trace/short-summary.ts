import { clipEnd, clipMiddle, width } from '../terminal/text.ts';
import type { TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { whatOf } from './mcp.ts';
import { shortRoute } from './request.ts';
import type { Entry } from './state.ts';

/** The summary in the columns there are: said in fewer words before a letter of it is cut off. */
export function fittingSummary(entry: Entry, columns: number): string {
  if (width(entry.summary) <= columns) return entry.summary;
  const shorter = shorterForms(entry);
  const fitting = shorter.find((text) => width(text) <= columns);
  if (fitting !== undefined) return fitting;
  const last = shorter.at(-1) ?? entry.summary;
  /* A route or a target says as much at its end as at its beginning; prose is read from its beginning. */
  return isName(entry) ? clipMiddle(last, columns) : clipEnd(last, columns);
}

function isName({ event }: Entry): boolean {
  return event.message.type === 'routeSelection' || event.message.type === 'backendCallStart';
}

/** Other words for the same, each shorter than the one before. */
function shorterForms({ event, summary }: Entry): readonly string[] {
  const { message } = event;
  if (message.type === 'mcpCallStart' || message.type === 'mcpCallResult') return shorterCalls(message, summary);
  if (message.type === 'mcpRequest' || message.type === 'mcpResponse') return [];
  if ((event.scope ?? []).length > 0) return [withoutFamily(summary)];
  if (message.type === 'policy') return [summary.replace(/ \(from [^()]*\)$/, '')];
  if (message.type === 'policyEvent' && message.kind.startsWith('a2a')) return [summary.slice(message.kind.length + 2)];
  if (message.type === 'policyEvent' && message.kind.startsWith('llm_'))
    return [summary.slice(message.kind.length + 2)];
  if (message.type === 'authorizationResult')
    return [summary.replace(' matches)', ')'), summary.replace(/ \([^()]*\)/, '')];
  if (message.type === 'policySelection') return [summary.replace(' effective policies', '')];
  if (message.type === 'requestFinished')
    return [summary.replace(/^request /, ''), summary.replace(/^request finished /, '')];
  if (message.type === 'bodySnapshot') {
    const short = summary.replace(' body snapshot', '');
    // What a body means says more than its size.
    const meant = short.replace(/ \([^()]*\)(?= \S)/, '');
    return meant === short
      ? [short]
      : [
          short,
          meant,
          meant.replace(/^llm request before translation|^llm /, (stage) => (stage === 'llm ' ? '' : 'request')),
        ];
  }
  if (message.type !== 'routeSelection') return [];
  if (typeof message.selectedRoute !== 'string' || message.selectedRoute === '')
    return ['no route selected', 'no route'];
  const route = shortRoute(message.selectedRoute);
  return [`selected ${route} ${summary.slice(summary.lastIndexOf('('))}`, `selected ${route}`, route];
}

/** Which server it is says more than that it is one. */
function withoutFamily(summary: string): string {
  return summary.replace(/^mcp > /, '');
}

type Call = Extract<TraceMessage, { type: 'mcpCallStart' | 'mcpCallResult' }>;

/** Whose call it is stays longest, then what came of it, or what it is about. */
function shorterCalls(message: Call, summary: string): readonly string[] {
  const short = withoutFamily(summary);
  const { target, item, method } = message;
  const what = whatOf(message);
  const of = `${target}: `;
  if (message.type === 'mcpCallStart')
    return [short, `${of}${what}`, `${of}${item ?? method?.replace('notifications/', '') ?? what}`];
  const came = short.slice(`${of}${what}: `.length).replace(/^result (?=.)/, '');
  return [short, `${of}${what}: ${came}`, `${of}${item ?? method ?? what}: ${came}`, `${of}${came}`];
}
