import { Args, Flags } from '@oclif/core';
import { readText } from '../../src/admin/client/read-file.ts';
import type { AskOptions } from '../../src/chat/ask.ts';
import type { Question } from '../../src/chat/formats/contract.ts';
import { CHAT_FORMATS } from '../../src/chat/formats/registry.ts';
import { AnswerPrinter, askedDocument, factsLine } from '../../ui/text/chat.ts';
import { durationFlag, liveTargetFlags, outputFlag, portFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { headerOf, secretOf } from '../_base/headers.ts';
import { modelsHint, traceHint } from '../_base/llm/hint.ts';
import { models } from '../_base/llm/place.ts';
import { placeOf } from '../_base/place.ts';
import { usageError } from '../_base/usage-error.ts';
import { renderDocument } from '../_base/view.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const request = { helpGroup: 'REQUEST' };

export default class LlmAsk extends GwCommand {
  static override summary = 'Ask a language model through a gateway and print its answer as it comes.';
  static override description =
    'Without --url and --port the proxy is asked over its admin interface where its models are. The question is sent in the format of OpenAI chat completions, or in that of --format, and the gateway translates where the provider speaks another; docs/llm.md has the pairs that it can.\nThe text of the answer goes to stdout; tokens and times go to stderr. -o json prints the whole message, its usage, model and times.\nThe exit code is 5 when the gateway or the provider refuses the key, 124 when nothing comes in time, 1 for every other answer that is none.';
  static override usage = 'llm ask PROMPT --model NAME [flags]';
  static override args = {
    prompt: Args.string({ ignoreStdin: true, required: true, description: 'What to ask; - is stdin.' }),
  };
  static override flags = {
    model: Flags.string({ ...request, char: 'm', required: true, helpValue: '<name>', summary: 'Model to ask.' }),
    system: Flags.string({ ...request, helpValue: '<text>', summary: 'Instructions that go before the question.' }),
    format: Flags.option({ options: CHAT_FORMATS })({
      ...request,
      summary: 'Wire format of the request.',
      default: 'completions',
    }),
    stream: Flags.boolean({ ...request, summary: 'Ask for a stream.', default: true, allowNo: true }),
    header: Flags.string({
      ...request,
      char: 'H',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: '<name: value>',
      summary: 'Further header; may be repeated.',
    }),
    'api-key': Flags.string({
      ...request,
      helpValue: '<key>',
      summary: 'Key for the gateway, sent as the format has it; @path reads it from a file.',
    }),
    ...liveTargetFlags,
    port: portFlag({ helpGroup: 'TARGET', summary: 'Listener port of the target, plain HTTP.' }),
    url: Flags.string({
      helpGroup: 'TARGET',
      helpValue: '<url>',
      summary: 'Address of the gateway instead, such as http://host:4000.',
    }),
    insecure: Flags.boolean({ helpGroup: 'TARGET', char: 'k', summary: 'Accept any certificate.' }),
    cacert: Flags.string({ helpGroup: 'TARGET', helpValue: '<path>', summary: 'Authorities to trust, PEM.' }),
    timeout: durationFlag({ helpGroup: 'TARGET', summary: 'How long to wait for the next piece. Default: 2m.' }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    'gwctl llm ask --local --model gpt-demo "What is a gateway?"',
    {
      description: 'The same model asked by a client of another vendor',
      command: 'gwctl llm ask --local --model gpt-demo --format messages "What is a gateway?"',
    },
    {
      description: 'A text of a file, through a gateway elsewhere',
      command:
        'gwctl llm ask --url https://gw.example --api-key @key.txt -m claude-demo --system "Sum it up." - < a.txt',
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(LlmAsk);
    const prompt = args.prompt === '-' ? await readText('-', this.cli.stdin) : args.prompt;
    if (prompt.trim() === '') throw usageError('the prompt is empty', 'gwctl llm ask --local --model gpt-demo "Hello"');
    const headers = (flags.header ?? []).map(headerOf);
    const apiKey = await secretOf('--api-key', flags['api-key'], this.cli);
    const ca = flags.cacert === undefined ? undefined : await readText(flags.cacert, this.cli.stdin);
    const url = await placeOf(flags, models, { cli: this.cli, tell: (text) => this.note(text) });
    const { model, system, format } = flags;
    const question: Question = { model, prompt, system, streaming: flags.stream };
    const { output } = flags;
    const printer = new AnswerPrinter(this.columns);
    const options: AskOptions = {
      url,
      format,
      apiKey,
      headers,
      tls: { insecure: flags.insecure, ca },
      timeoutMs: flags.timeout ?? DEFAULT_TIMEOUT_MS,
      signal: this.cli.signal,
      hint: traceHint(question, { url, format, apiKey }, flags),
      modelsHint: modelsHint(flags),
      onText: async (text) => (output === 'text' ? this.out(printer.add(text)) : undefined),
    };
    const { ask } = await import('../../src/chat/ask.ts');
    const result = await ask(question, options).catch(async (error: unknown) => {
      // What went wrong has a line of its own.
      await this.out(printer.end([]));
      throw error;
    });
    if (output !== 'text') return this.out(await renderDocument(askedDocument(question, format, result), output));
    await this.out(printer.end(result.message.toolCalls));
    await this.note(factsLine(result));
  }
}
