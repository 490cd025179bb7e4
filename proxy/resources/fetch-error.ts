import type { RemoteDocument } from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';

export interface FetchFailure {
  readonly document: RemoteDocument;
  /** Names the document; without the query of its address. */
  readonly problem: string;
}

const THERE = 'every document behind an address has to be there when a configuration is loaded';

/** Documents that a configuration cannot be used without, and that could not be had. */
export class ResourceFetchError extends GwError {
  readonly failures: readonly FetchFailure[];

  constructor(failures: readonly FetchFailure[]) {
    const tools = failures.some(({ document }) => document.content === 'openApi');
    super([...new Set(failures.map(({ problem }) => problem))].join('\n'), {
      code: 'GW_RESOURCE_FETCH',
      hint: tools ? `${THERE}; \`failureMode: failOpen\` leaves targets of MCP out until theirs comes` : THERE,
    });
    this.failures = failures;
  }

  /** With the places of the configuration that name the documents, by their address. */
  async placed(placeOf: (url: string) => Promise<string | null>): Promise<ResourceFetchError> {
    const placed = this.failures.map(async ({ document, problem }): Promise<FetchFailure> => {
      const place = await placeOf(document.url);
      return { document, problem: place === null ? problem : `${place}: ${problem}` };
    });
    return new ResourceFetchError(await Promise.all(placed));
  }
}
