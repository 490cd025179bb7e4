import { asArray, asNumber, asObject, asText } from '../../src/admin/protocol/lenient.ts';

/** `completions → messages: drops logprobs; renames user → metadata.user_id; adds max_tokens`. */
export function translationSummary(details: unknown): string {
  const { from, to, dropped, renamed, added } = asObject(details);
  const changes = [
    listed('drops', asArray(dropped).map(String)),
    listed(
      'renames',
      asArray(renamed)
        .map(asObject)
        .map((each) => `${asText(each['from']) ?? '?'} → ${asText(each['to']) ?? '?'}`),
    ),
    listed('adds', asArray(added).map(String)),
  ].filter(Boolean);
  const formats = `${asText(from) ?? '?'} → ${asText(to) ?? '?'}`;
  return changes.length === 0 ? formats : `${formats}: ${changes.join('; ')}`;
}

/** `$0.00012 for claude-demo of anthropic`, or why there is no price. */
export function costSummary(details: unknown): string {
  const { provider, model, status, reason } = asObject(details);
  const of = `${asText(model) ?? '?'} of ${asText(provider) ?? '?'}`;
  const cost = costOf(details);
  if (cost !== undefined) return `${dollarsText(cost)} for ${of}`;
  return `no price for ${of}: ${asText(reason) ?? asText(status) ?? 'unknown'}`;
}

/** Dollars; undefined where there is no price. */
export function costOf(details: unknown): number | undefined {
  const { cost } = asObject(details);
  return asNumber(cost) ?? asNumber(asObject(cost)['total']);
}

/** `$1.25`, `$0.00012`: small amounts keep their first digits. */
export function dollarsText(dollars: number): string {
  if (dollars === 0) return '$0';
  const digits = dollars >= 0.1 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(digits)}`;
}

function listed(verb: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${verb} ${names.join(', ')}`;
}
