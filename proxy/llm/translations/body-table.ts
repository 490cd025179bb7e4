import type { RouteType } from '../route-type.ts';
import { embeddingsToBedrock } from './bedrock-bodies/embeddings.ts';
import { rerankToBedrock } from './bedrock-bodies/rerank.ts';
import { tokenCountToBedrock } from './bedrock-bodies/token-count.ts';
import type { BodyTranslation } from './contract.ts';
import { embeddingsToVertex } from './vertex-bodies/embeddings.ts';
import { rerankToVertex } from './vertex-bodies/rerank.ts';

/** Services that have bodies of their own for what is no chat. */
export type BodyService = 'vertex' | 'bedrock';

/** Every way, by service and kind of request. One line each. */
const ways: Readonly<Record<BodyService, Partial<Readonly<Record<RouteType, BodyTranslation>>>>> = {
  vertex: { embeddings: embeddingsToVertex, rerank: rerankToVertex },
  bedrock: { embeddings: embeddingsToBedrock, rerank: rerankToBedrock, anthropicTokenCount: tokenCountToBedrock },
};

/** Undefined: the service has nothing of the kind. */
export function bodyWay(service: BodyService, type: RouteType): BodyTranslation | undefined {
  return ways[service][type];
}
