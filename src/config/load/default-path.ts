import { access, constants, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { Environment } from './expand.ts';

/** Parts of the file system that finding the default file needs. */
export interface DefaultPathFs {
  readonly isDirectory: (path: string) => Promise<boolean>;
  readonly isWritable: (path: string) => Promise<boolean>;
  readonly makeDirectory: (path: string) => Promise<void>;
  /** Creates a file; false when there is one already. */
  readonly create: (path: string, text: string) => Promise<boolean>;
}

/** Where the configuration comes from when the command line names none. */
export type DefaultConfig =
  | { readonly kind: 'file'; readonly path: string; readonly created: boolean }
  /** In Kubernetes: an empty configuration, whose dynamic part is the file at `path`. */
  | { readonly kind: 'dynamic'; readonly path: string };

/** What a new installation begins with. */
const STARTER_CONFIG = `# yaml-language-server: $schema=gwctl.schema.json
#
# Editors check this file against the schema once it lies beside it: gwctl schema > gwctl.schema.json
# \`gwctl proxy validate\` checks it too. To go on, add a route, for example:
#
# routes:
# - backends:
#   - host: localhost:8080
gateways:
  default:
    port: 4000
`;

/** The default configuration file, created when it is not there. Throws a `GwError` when there is no place for it. */
export async function defaultConfigPath(env: Environment, fs: DefaultPathFs = diskFs): Promise<DefaultConfig> {
  if (isSet(env['KUBERNETES_SERVICE_HOST'])) return inKubernetes(env['LOCAL_XDS_PATH']);
  const directory = await defaultDirectory(env, fs);
  const path = join(directory, 'config.yaml');
  try {
    await fs.makeDirectory(directory);
    return { kind: 'file', path, created: await fs.create(path, STARTER_CONFIG) };
  } catch (error) {
    throw new GwError(`cannot create ${path}: ${messageOf(error)}`, {
      code: 'GW_CONFIG_DEFAULT',
      hint: 'name a file with -f',
      cause: error,
    });
  }
}

function inKubernetes(path: string | undefined): DefaultConfig {
  if (path !== undefined && path !== '') return { kind: 'dynamic', path };
  throw new GwError('inside Kubernetes the configuration has to be named', {
    code: 'GW_CONFIG_DEFAULT',
    hint: 'name a file with -f, or set LOCAL_XDS_PATH',
  });
}

async function defaultDirectory(env: Environment, fs: DefaultPathFs): Promise<string> {
  if (await fs.isDirectory('/config')) {
    if (await fs.isWritable('/config')) return '/config';
    throw new GwError('the directory /config cannot be written to', {
      code: 'GW_CONFIG_DEFAULT',
      hint: 'make it writable, or name a file with -f',
    });
  }
  if (env['GW_ENV'] === 'container') {
    throw new GwError('there is no directory /config', {
      code: 'GW_CONFIG_DEFAULT',
      hint: 'mount it, or name a file with -f',
    });
  }
  const { XDG_CONFIG_HOME: xdg, HOME: home } = env;
  if (isSet(xdg)) return join(xdg, 'gwctl');
  if (isSet(home)) return join(home, '.config', 'gwctl');
  throw new GwError('neither XDG_CONFIG_HOME nor HOME is defined, so there is no place for the default configuration', {
    code: 'GW_CONFIG_DEFAULT',
    hint: 'name a file with -f',
  });
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

const diskFs: DefaultPathFs = {
  isDirectory: async (path) => {
    try {
      return (await stat(path)).isDirectory();
    } catch {
      return false;
    }
  },
  isWritable: async (path) => {
    try {
      await access(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  makeDirectory: async (path) => {
    await mkdir(path, { recursive: true });
  },
  create: async (path, text) => {
    try {
      await writeFile(path, text, { flag: 'wx' });
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      throw error;
    }
  },
};
