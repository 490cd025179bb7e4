import type { ChatFormat, UpstreamFormat } from '../../../proxy/llm/formats.ts';
import { providerOf } from '../../../proxy/llm/providers/registry.ts';
import { failureOf } from '../../../proxy/llm/failure.ts';
import { ways } from '../../../proxy/llm/translations/table.ts';
import { type GatewayConfig, type LlmRouteType, type LlmService, loadConfig } from '../../../src/config/index.ts';
import { presets } from '../../../src/config/normalize/llm/presets.ts';
import { begin } from '../../proxy/llm/translations/notes.ts';
import { cases } from '../../llm/matrix/cases.ts';
import { aiClients } from '../../llm/matrix/clients/ai-sdk.ts';
import { anthropic } from '../../llm/matrix/clients/anthropic.ts';
import { bedrock } from '../../llm/matrix/clients/bedrock.ts';
import { google } from '../../llm/matrix/clients/google.ts';
import { openaiChat } from '../../llm/matrix/clients/openai-chat.ts';
import { openaiResponses } from '../../llm/matrix/clients/openai-responses.ts';
import { type CodeWay, wayOfService } from '../../llm/matrix/code-ways.ts';
import { columns } from '../../llm/matrix/columns.ts';
import { failures } from '../../llm/matrix/failures.ts';
import { table as tested } from '../../llm/matrix/table.ts';
import { configuration } from '../../llm/matrix/world.ts';
import { richRequests } from './rich-requests.ts';

/** A provider with one kind of its models. */
interface Row {
  readonly label: string;
  readonly service: LlmService;
  readonly model: string;
  /** It is a column of the tests. */
  readonly tested: boolean;
}

const LABELS: Readonly<Record<string, string>> = {
  openai: '`openAI`',
  azure: '`azure`',
  'azure-deployment': '`azure`, by deployment',
  'azure-claude': '`azure` Foundry, Claude',
  anthropic: '`anthropic`',
  gemini: '`gemini`',
  'vertex-claude': '`vertex`, Claude',
  'vertex-gemini': '`vertex`, Gemini',
  'vertex-other': '`vertex`, others',
  bedrock: '`bedrock`',
  'custom-completions': '`custom` with `completions`',
  'custom-messages': '`custom` with `messages`',
  'custom-responses': '`custom` with `responses`',
  'custom-gemini': '`custom` with `generateContent`',
};

const COPILOT: readonly (readonly [label: string, model: string])[] = [
  ['`copilot`, Claude', 'claude-sonnet-4'],
  ['`copilot`, `gpt-5.4` and `gpt-5-mini`', 'gpt-5-mini'],
  ['`copilot`, other GPT from 5, Grok', 'gpt-5'],
  ['`copilot`, others', 'gpt-4o'],
];

const NAMES: Readonly<Record<UpstreamFormat, string>> = {
  completions: 'chat completions',
  messages: 'messages',
  responses: 'responses',
  generateContent: '`generateContent`',
  converse: 'Converse',
};

const CHATS: readonly ChatFormat[] = ['completions', 'messages', 'responses', 'generateContent'];

/** The parts of docs/llm.md that the code writes, by the name in their comment. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const text = configuration(() => 1);
  const { config } = await loadConfig({ kind: 'text', text, name: 'matrix.yaml' }, { env: {} });
  const rows = rowsOf(config);
  return new Map([
    ['route types', routeTypes(config)],
    ['hosts', hosts(rows)],
    ['presets', presetTable()],
    ['chats', chats(rows)],
    ['others', others(rows)],
    ['clients', clients()],
    ['cases', caseList()],
    ['notes', notesTable()],
  ]);
}

function rowsOf(config: GatewayConfig): readonly Row[] {
  const models = config.backends.flatMap(({ backend }) => (backend.kind === 'models' ? backend.models : []));
  const own = columns.map(({ name }): Row => {
    const provider = models.find((model) => model.name === name)?.backend.groups[0]?.[0];
    if (provider === undefined) throw new Error(`no model ${name}`);
    const { service, model = '' } = provider;
    return { label: LABELS[name] ?? name, service, model, tested: tested[name] !== undefined };
  });
  const rest = COPILOT.map(([label, model]): Row => ({ label, service: { kind: 'copilot' }, model, tested: false }));
  return [...own, ...rest];
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

// ── what requests are ──

function routeTypes(config: GatewayConfig): string {
  const models = config.backends.flatMap(({ backend }) => (backend.kind === 'models' ? backend.models : []));
  const routes = models.find(({ name }) => name === 'openai')?.backend.groups[0]?.[0]?.policies.ai?.routes ?? [];
  const paths = new Map<LlmRouteType, string[]>();
  for (const [suffix, type] of routes) paths.set(type, [...(paths.get(type) ?? []), suffix]);
  return markdown(
    ['Path ends in', 'Type'],
    [...paths].map(([type, suffixes]) => [
      suffixes
        .toSorted()
        .map((each) => `\`${each}\``)
        .join(', '),
      `\`${type}\``,
    ]),
  );
}

// ── where requests go ──

function hosts(rows: readonly Row[]): string {
  const shown = rows.filter(({ service }) => service.kind !== 'custom');
  return markdown(
    ['Provider', 'Host', 'Path of a chat', 'of its stream'],
    shown.map(({ label, service, model }) => {
      const provider = providerOf(service, { model, authLocated: false });
      const path = (streaming: boolean): string => {
        const chat = { routeType: 'completions', model, streaming } as const;
        // Some models have responses alone.
        const request =
          provider.plan(chat).kind === 'unsupported' ? { ...chat, routeType: 'responses' as const } : chat;
        return provider.path(request, provider.plan(request), undefined);
      };
      const [whole, stream] = [path(false), path(true)];
      return [label, `\`${provider.hosts[0]}\``, `\`${whole}\``, stream === whole ? 'the same' : `\`${stream}\``];
    }),
  );
}

function presetTable(): string {
  return markdown(
    ['`provider`', 'Address', 'Formats'],
    Object.entries(presets).map(([name, { baseUrl, formats }]) => [
      `\`${name}\``,
      `\`${baseUrl}\``,
      formats.map(({ type, path }) => (path === undefined ? `\`${type}\`` : `\`${type}\` at \`${path}\``)).join(', '),
    ]),
  );
}

// ── who can talk to whom ──

function chats(rows: readonly Row[]): string {
  return markdown(
    ['Provider', ...CHATS.map((format) => `client of ${NAMES[format]}`), 'tested'],
    rows.map(({ label, service, model, tested: tried }) => [
      label,
      ...CHATS.map((format) => chatCell(format, wayOfService(service, model, format))),
      tried ? '✓' : '',
    ]),
  );
}

function chatCell(format: ChatFormat, way: CodeWay | null): string {
  if (way === null) return '✗ 400';
  return way.upstream === null || way.upstream === format ? 'as it is' : `→ ${NAMES[way.upstream]}`;
}

const OTHERS: readonly (readonly [title: string, type: LlmRouteType])[] = [
  ['embeddings', 'embeddings'],
  ['rerank', 'rerank'],
  ['count of tokens, Anthropic', 'anthropicTokenCount'],
  ['count of tokens, Google', 'geminiCountTokens'],
  ['realtime', 'realtime'],
];

function others(rows: readonly Row[]): string {
  return markdown(
    ['Provider', ...OTHERS.map(([title]) => title), 'tested'],
    rows.map(({ label, service, model, tested: tried }) => [
      label,
      ...OTHERS.map(([, type]) => otherCell(wayOfService(service, model, type))),
      tried ? '✓' : '',
    ]),
  );
}

function otherCell(way: CodeWay | null): string {
  if (way === null) return '✗ 400';
  if (way.body === 'local') return 'counted here';
  return way.body === 'own' ? '→ its own' : 'as it is';
}

// ── what is tried ──

function clients(): string {
  const all = [openaiChat, openaiResponses, anthropic, google, bedrock, ...Object.values(aiClients)];
  return markdown(
    ['Library', 'Format'],
    all.map(({ name, format }) => [name, NAMES[format]]),
  );
}

function caseList(): string {
  const chat = cases.map(({ name, modes }) => (modes.length > 1 ? `${name} (whole and streamed)` : name));
  const failing = failures.map(({ name }) => name).filter((name) => !name.endsWith(', streamed'));
  return [...chat, ...failing].map((name) => `- ${name}`).join('\n');
}

// ── what is left out ──

function notesTable(): string {
  return markdown(
    ['Translation', 'Dropped', 'Renamed', 'Added'],
    ways.flatMap(({ from, to, translation }) => {
      const body = richRequests[from];
      if (translation === null || body === undefined) return [];
      const notes = new Noted();
      try {
        begin(translation, body, { notes });
      } catch (error) {
        throw new Error(failureOf(error, 'request')?.message ?? String(error), { cause: error });
      }
      return [[`${NAMES[from]} → ${NAMES[to]}`, notes.told('dropped'), notes.told('renamed'), notes.told('added')]];
    }),
  );
}

/** Hears what a translation says, without the places in lists. */
class Noted {
  readonly #told = { dropped: new Set<string>(), renamed: new Set<string>(), added: new Set<string>() };

  dropped(path: string, why?: string): void {
    const reason = why === undefined ? '' : ` (${why})`;
    this.#told.dropped.add(`\`${plain(path)}\`${reason}`);
  }

  renamed(path: string, to: string): void {
    this.#told.renamed.add(`\`${plain(path)}\` → \`${plain(to)}\``);
  }

  added(path: string): void {
    this.#told.added.add(`\`${plain(path)}\``);
  }

  told(what: 'dropped' | 'renamed' | 'added'): string {
    return [...this.#told[what]].join(', ');
  }
}

function plain(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[]');
}
