import type { Cloud } from '../cloud.ts';
import { credentialIn } from './credential.ts';
import { fromMetadata } from './metadata.ts';
import type { GcpSource } from './source.ts';

const TOOL_FILE = 'application_default_credentials.json';

/** Application default credentials: a file that a variable names, that of the tools, the metadata server. */
export const ambient: GcpSource = async (cloud, want) => {
  const named = cloud.env('GOOGLE_APPLICATION_CREDENTIALS');
  // Read each time, since files change; tokens are remembered.
  if (named !== undefined) return credentialIn(await cloud.readFile(named))(cloud, want);
  const written = await toolCredential(cloud);
  return (written === null ? fromMetadata : credentialIn(written))(cloud, want);
};

/** What the command line of the cloud has left for programs; null when it has not. */
async function toolCredential(cloud: Cloud): Promise<string | null> {
  const folder = cloud.env('CLOUDSDK_CONFIG') ?? `${cloud.home}/.config/gcloud`;
  return cloud.readFile(`${folder}/${TOOL_FILE}`).catch(() => null);
}
