import type { ConfigSource } from '../../src/config/index.ts';
import { exitCodes, type ExitCode } from '../../src/shared/errors.ts';
import { configFlags, configSourceOf } from '../_base/config-source.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { listeningLines } from '../_base/listening.ts';
import { usageError } from '../_base/usage-error.ts';

export default class ProxyRun extends GwCommand {
  static override summary = 'Run a proxy in the foreground on a standalone configuration.';
  static override description =
    "A changed file takes effect without a restart; a broken one changes nothing and is reported by gwctl proxy config status. SIGTERM and Ctrl-C drain open requests first, a second Ctrl-C ends at once.\nWithout -f and -c the file is /config/config.yaml where that folder exists, else gwctl/config.yaml in the user's configuration folder; it is created when it is missing.";
  static override flags = configFlags;
  static override examples = [
    { description: 'Run on a file', command: 'gwctl proxy run -f config.yaml' },
    { description: 'Run on what another program writes', command: 'render-config | gwctl proxy run -f -' },
  ];

  async run(): Promise<ExitCode> {
    const { flags } = await this.parse(ProxyRun);
    const source = configSourceOf(flags, this.cli) ?? (await this.#defaultSource());
    const { Gateway, standaloneProvider } = await import('../../proxy/index.ts');
    const gateway = await Gateway.start({
      provider: standaloneProvider(source, { env: this.cli.env }),
      build: { version: this.config.version, gitRevision: '' },
    });
    const second = Promise.withResolvers<void>();
    let asked = false;
    const stop = (): void => {
      // The signal that follows a /quitquitquit, as when a pod ends, is no second one.
      if (asked || !gateway.closing) void gateway.shutdown();
      if (asked) second.resolve();
      asked = true;
    };
    const giveBack = this.cli.takeSignals(stop);
    // It came while the gateway was starting.
    if (this.cli.signal.aborted) stop();
    try {
      for (const line of listeningLines(gateway.addresses)) await this.note(line);
      await Promise.race([gateway.done, second.promise]);
    } finally {
      giveBack();
    }
    return exitCodes.ok;
  }

  async #defaultSource(): Promise<ConfigSource> {
    const { defaultConfigPath } = await import('../../src/config/index.ts');
    const found = await defaultConfigPath(this.cli.env);
    if (found.kind === 'dynamic') {
      throw usageError(
        'a configuration out of LOCAL_XDS_PATH is not available in this version',
        'gwctl proxy run -f config.yaml',
      );
    }
    await this.note(`${found.created ? 'created' : 'using'} ${found.path}`);
    return { kind: 'file', path: found.path };
  }
}
