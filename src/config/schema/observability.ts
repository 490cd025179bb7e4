import { z } from 'zod';
import { cel, celMap } from './scalars.ts';

/** Labels that the metrics of requests have by themselves, and the one that belongs to histograms. */
export const trafficLabels: ReadonlySet<string> = new Set([
  'backend',
  'protocol',
  'method',
  'status',
  'reason',
  'bind',
  'gateway',
  'listener',
  'route',
  'route_rule',
  'le',
]);

export const fieldName = z.string().min(1).max(256);

/** Keys of every record, which no expression may forge. */
const RESERVED = ['level', 'time', 'scope'];

/** Fields of the access log, by expressions. */
export const fieldMap = (description: string) =>
  celMap(description).superRefine((fields, context) => {
    for (const name of RESERVED.filter((each) => Object.hasOwn(fields, each)))
      context.addIssue({ code: 'custom', message: `every record has a \`${name}\` of its own`, path: [name] });
  });

/** A share of requests, or an expression that gives one. */
export const sampling = z.union(
  [
    cel,
    z.boolean(),
    z
      .number()
      .min(0, { error: () => 'expected a share from 0 to 1' })
      .max(1, { error: () => 'expected a share from 0 to 1' }),
  ],
  { error: () => 'expected an expression, true, false or a share from 0 to 1' },
);

/** Labels of metrics, by expressions. */
export const labelMap = celMap('Labels to add to the metrics of requests.').superRefine((labels, context) => {
  const names = Object.keys(labels);
  const add = (name: string, message: string): void =>
    context.addIssue({ code: 'custom', message, path: name === '' ? [] : [name] });
  if (names.length > 16) add('', 'at most 16 labels can be added');
  for (const name of names) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) || name.startsWith('__'))
      add(name, 'a label is made of letters, digits and _, and begins with a letter or one _');
    else if (trafficLabels.has(name)) add(name, 'the metrics of requests have this label already');
  }
});
