import type { VersionDump } from '../../src/admin/protocol/config-dump.ts';

/** What the build tells about itself. */
export interface BuildFacts {
  readonly version: string;
  /** Empty when the build does not know it. */
  readonly gitRevision: string;
}

/** In the words of the protocol; the runtime stands where a compiled gateway names its compiler. */
export function versionFacts(build: BuildFacts): VersionDump {
  return {
    version: build.version,
    git_revision: build.gitRevision,
    rust_version: '',
    build_profile: 'release',
    build_target: `${process.platform}-${process.arch}`,
    runtime: `node ${process.versions.node}`,
  };
}
