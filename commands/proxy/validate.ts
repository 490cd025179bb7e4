import { configFlags, configSourceOf } from '../_base/config-source.ts';
import { outputFlag } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { usageError } from '../_base/usage-error.ts';
import { renderDocument } from '../_base/view.ts';
import { exitCodes, GwError, type ExitCode } from '../../src/shared/errors.ts';

export default class ProxyValidate extends GwCommand {
  static override summary = 'Check a configuration without starting anything.';
  static override description =
    'Every problem is reported in one go, with its file, line and column. The exit code is 6 when there are any.';
  static override flags = { ...configFlags, output: outputFlag(['text', 'json', 'yaml'] as const, 'text') };
  static override examples = ['gwctl proxy validate -f config.yaml', 'gwctl proxy validate -f - -o json < config.yaml'];

  async run(): Promise<ExitCode> {
    const { flags } = await this.parse(ProxyValidate);
    const source = configSourceOf(flags, this.cli);
    if (source === undefined) throw usageError('there is nothing to check', 'gwctl proxy validate -f config.yaml');
    const { loadConfig, ConfigError, renderIssues } = await import('../../src/config/index.ts');
    try {
      const loaded = await loadConfig(source, { env: this.cli.env });
      const { checkCompiles } = await import('../../proxy/engine/check.ts');
      for (const warning of await checkCompiles(loaded.config)) await this.note(`warning: ${warning}`);
      if (flags.output !== 'text')
        await this.out(
          await renderDocument({ valid: true, revision: loaded.revision, issues: loaded.warnings }, flags.output),
        );
      else await this.out('Configuration is valid!\n');
      if (flags.output === 'text' && loaded.warnings.length > 0)
        await this.note(renderIssues(loaded.warnings, loaded.shown()));
      return exitCodes.ok;
    } catch (error) {
      // A file that cannot be read is no finding about its content.
      if (!(error instanceof GwError) || error.code === 'GW_CONFIG_FILE') throw error;
      const { code, message } = error;
      const issues = error instanceof ConfigError ? error.issues : [{ code, severity: 'error', message }];
      if (flags.output !== 'text')
        await this.out(await renderDocument({ valid: false, revision: null, issues }, flags.output));
      else await this.out(`${error.message}\n`);
      return exitCodes.findings;
    }
  }
}
