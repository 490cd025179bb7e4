import { liveTargetFlags, resourceArg } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { withClient } from '../_base/target.ts';

export default class ProxyQuit extends GwCommand {
  static override summary = 'Ask a proxy to drain and stop.';
  static override description =
    "Open requests are finished first, up to the proxy's termination deadline; the command does not wait for them.";
  static override args = resourceArg;
  static override flags = liveTargetFlags;
  static override examples = ['gwctl proxy quit --local', 'gwctl proxy quit --address unix:/run/gwctl/admin.sock'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProxyQuit);
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const answer = await withClient({ ...flags, ...args }, surroundings, (client) => client.quit());
    await this.out(`${answer.trimEnd()}\n`);
  }
}
