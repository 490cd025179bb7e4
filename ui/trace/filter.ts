import type { Entry } from './state.ts';

interface Term {
  readonly field: 'any' | 'type' | 'severity' | 'scope' | 'all';
  readonly text: string;
  readonly negated: boolean;
}

/** Reads a query: words that must all occur; `type:`, `sev:`, `scope:` and `all:` look at one field; `-` before a word excludes it. */
export function parseQuery(query: string): Term[] {
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '' && word !== '-')
    .map(term);
}

/** Whether an event satisfies every term. */
export function matches(entry: Entry, terms: readonly Term[]): boolean {
  return terms.every((wanted) => fieldText(entry, wanted.field).includes(wanted.text) !== wanted.negated);
}

/** The words of a query that can be marked where they occur. */
export function needlesOf(query: string): string[] {
  return parseQuery(query)
    .filter((wanted) => wanted.field === 'any' && !wanted.negated)
    .map((wanted) => wanted.text);
}

export function isProblemEvent(entry: Entry): boolean {
  return entry.event.severity === 'warn' || entry.event.severity === 'error';
}

function term(word: string): Term {
  const negated = word.startsWith('-');
  const text = negated ? word.slice(1) : word;
  const [prefix = '', rest] = splitOnce(text);
  if (rest === undefined || rest === '') return { field: 'any', text, negated };
  if (prefix === 'type') return { field: 'type', text: rest, negated };
  if (prefix === 'sev' || prefix === 'severity') return { field: 'severity', text: rest, negated };
  if (prefix === 'scope') return { field: 'scope', text: rest, negated };
  return prefix === 'all' ? { field: 'all', text: rest, negated } : { field: 'any', text, negated };
}

function splitOnce(text: string): [string, string | undefined] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}

function fieldText(entry: Entry, field: Term['field']): string {
  switch (field) {
    case 'type':
      return `${entry.event.message.type} ${entry.label}`.toLowerCase();
    case 'severity':
      return entry.event.severity;
    case 'scope':
      return (entry.event.scope ?? []).join(' ').toLowerCase();
    case 'all':
      return JSON.stringify(entry.event.message).toLowerCase();
    case 'any':
      return entry.searchable;
  }
}
