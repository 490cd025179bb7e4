import { AdminClient } from '../src/admin/client/admin-client.ts';
import { parseAdminAddress } from '../src/admin/client/address.ts';
import { wholeRequests } from '../src/admin/client/whole-requests.ts';
import type { TraceStream } from '../src/admin/client/trace-stream.ts';
import type { TraceEvent } from '../src/admin/protocol/trace-event.ts';
import { exitCodes, type ExitCode } from '../src/shared/errors.ts';
import type { Demo } from '../src/demo/demo.ts';
import { HeldLog } from '../src/demo/held-log.ts';
import type { Gateway } from '../proxy/index.ts';
import { Flags } from '@oclif/core';
import { portFlag } from './_base/flags.ts';
import { write } from './_base/cli.ts';
import { GwCommand } from './_base/gw-command.ts';
import { requestLines } from './_base/demo-lines.ts';
import { terminalOf } from './_base/terminal.ts';

interface Running {
  readonly demo: Demo;
  readonly gateway: Gateway;
  readonly stream: TraceStream;
}

/** How long the end waits for requests that are open. */
const DRAIN_MS = 500;
const DEFAULT_PORT = 4000;
const DEFAULT_ADMIN_PORT = 15000;

export default class DemoCommand extends GwCommand {
  static override summary = 'Run a gateway with something behind it and something to see.';
  static override description =
    'Starts a gateway on a built-in configuration, upstreams for it (an echo, a slow one, a flaky one, a failing one, a stream), policies (keys, rules, a limit), simulated language models of three vendors, two MCP servers, an agent, and some traffic. On a terminal a screen shows the requests and opens their traces; elsewhere each request is a line. A port that is taken is replaced by a free one.';
  static override flags = {
    port: portFlag({ summary: 'Port of the gateway.', default: DEFAULT_PORT }),
    'model-port': portFlag({ summary: 'Port of the language models. Default: the one after --port.' }),
    'admin-port': portFlag({ char: 'p', summary: 'Port of the admin interface.', default: DEFAULT_ADMIN_PORT }),
    plain: Flags.boolean({ summary: 'Lines instead of the screen, on a terminal too.' }),
    traffic: Flags.boolean({ summary: 'Send requests of its own.', default: true, allowNo: true }),
  };
  static override examples = ['gwctl demo', 'gwctl demo --port 8080 --plain'];

  async run(): Promise<ExitCode | void> {
    const { flags } = await this.parse(DemoCommand);
    const { prepareDemo } = await import('../src/demo/demo.ts');
    const { port, 'model-port': modelPort, 'admin-port': adminPort } = flags;
    const demo = await this.#unlessStopped(prepareDemo({ port, modelPort, adminPort }));
    try {
      return await this.#withGateway(demo, flags);
    } finally {
      await demo.upstreams.close();
    }
  }

  async #withGateway(demo: Demo, flags: { plain: boolean; traffic: boolean }): Promise<ExitCode | void> {
    const { Gateway, standaloneProvider } = await import('../proxy/index.ts');
    const held = this.#onTerminal(flags.plain) ? new HeldLog() : undefined;
    const gateway = await this.#unlessStopped(
      Gateway.start({
        provider: standaloneProvider({ kind: 'text', text: demo.text, name: 'demo' }, { env: this.cli.env }),
        build: { version: this.config.version, gitRevision: '' },
        // stdout is for the requests.
        output: held ?? { write: (text) => write(this.cli.stderr, text) },
      }),
    );
    const admin = parseAdminAddress(gateway.addresses.admin ?? '');
    const client = new AdminClient(admin, { timeoutMs: 10_000 });
    let stopTraffic: () => void = () => {};
    try {
      const stream = await this.#unlessStopped(client.trace({ follow: true }));
      if (flags.traffic) stopTraffic = (await import('../src/demo/traffic.ts')).startTraffic(demo);
      return await (this.#onTerminal(flags.plain)
        ? this.#screen({ demo, gateway, stream })
        : this.#lines({ demo, gateway, stream }));
    } finally {
      stopTraffic();
      await client.close();
      await this.#end(gateway);
      await write(this.cli.stderr, held?.release() ?? '');
    }
  }

  /** What is half started ends with the process: nobody waits for it. */
  async #unlessStopped<T>(starting: Promise<T>): Promise<T> {
    const { signal } = this.cli;
    const settled = new AbortController();
    const stopped = new Promise<never>((_, reject) => {
      const stop = (): void => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { signal: settled.signal });
    });
    try {
      return await Promise.race([starting, stopped]);
    } finally {
      settled.abort();
    }
  }

  /** Requests that are open get a moment; whoever is in a hurry asks again. */
  async #end(gateway: Gateway): Promise<void> {
    const ended = gateway.shutdown();
    const atOnce = (): void => void gateway.shutdown();
    const timer = setTimeout(atOnce, DRAIN_MS);
    this.cli.signal.addEventListener('abort', atOnce, { once: true });
    await ended;
    clearTimeout(timer);
    this.cli.signal.removeEventListener('abort', atOnce);
  }

  #onTerminal(plain: boolean): boolean {
    return !plain && this.cli.stdin.isTTY === true && this.cli.stdout.isTTY === true;
  }

  async #screen({ demo, gateway, stream }: Running): Promise<ExitCode> {
    const [{ openLiveScreen }, { recordedRequest, sendRecorded }] = await Promise.all([
      import('../ui/live/open.ts'),
      import('../src/demo/resend.ts'),
    ]);
    const code = await openLiveScreen({
      title: 'gwctl demo',
      addresses: [
        `http://localhost:${demo.port}`,
        `models :${demo.modelPort}`,
        `admin ${gateway.addresses.admin ?? 'off'}`,
      ],
      curls: triesOf(demo, this.cli.self),
      events: eventsOf(stream),
      resend: async (recorded) => {
        const again = recordedRequest(recorded);
        if (again !== undefined) await sendRecorded(again, again.port ?? demo.port);
      },
      ...terminalOf(this.cli),
    });
    // The screen's codes are 0 and 130.
    return code as ExitCode;
  }

  async #lines({ demo, gateway, stream }: Running): Promise<ExitCode> {
    const { signal } = this.cli;
    const stop = (): void => stream.close();
    // Not taken over: a second one then ends the process.
    signal.addEventListener('abort', stop, { once: true });
    void gateway.done.then(() => stream.close());
    try {
      await this.out(banner(demo, gateway, this.cli.self));
      for await (const line of requestLines(wholeRequests(stream))) await this.out(`${line}\n`);
    } finally {
      signal.removeEventListener('abort', stop);
    }
    return exitCodes.ok;
  }
}

/** What a newcomer may type first. */
function triesOf({ curls, port, modelPort }: Demo, self: string): readonly string[] {
  return [
    ...curls,
    `${self} llm ask --url http://localhost:${modelPort} --model any "What is a gateway?"`,
    `${self} mcp call shop_search query=tea --url http://localhost:${port}/mcp`,
  ];
}

function banner(demo: Demo, gateway: Gateway, self: string): string {
  return [
    `gateway   http://localhost:${demo.port}`,
    `models    http://localhost:${demo.modelPort}`,
    `admin     http://${gateway.addresses.admin}`,
    '',
    'Try these in another terminal:',
    ...triesOf(demo, self).map((line) => `  ${line}`),
    `  ${self} proxy trace --address ${gateway.addresses.admin} --port ${demo.port} -- http://localhost:${demo.port}/echo`,
    '',
    'Requests (Ctrl-C ends the demo):',
    '',
  ].join('\n');
}

async function* eventsOf(stream: TraceStream): AsyncGenerator<TraceEvent> {
  for await (const { event } of wholeRequests(stream)) yield event;
}
