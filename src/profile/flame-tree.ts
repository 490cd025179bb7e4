import { ProfileError } from './profile-error.ts';
import type { Frame, Profile } from './profile.ts';
import { functionKey } from './top-functions.ts';

/** A function in the calls of one path; `value` includes what it called. Children stand widest first. */
export interface FlameNode {
  readonly name: string;
  readonly value: number;
  readonly children: readonly FlameNode[];
}

interface OpenNode {
  readonly name: string;
  value: number;
  readonly children: Map<string, OpenNode>;
}

/**
 * The calls of a profile as one tree. With `focus` (a part of a function's name, in any case) it begins at the outermost such
 * function of each stack, and stacks without one are left out.
 */
export function flameTree(profile: Profile, index: number, focus?: string): FlameNode {
  const root: OpenNode = { name: 'all', value: 0, children: new Map() };
  for (const sample of profile.samples) {
    const stack = focus === undefined ? sample.frames : focused(sample.frames, focus.toLowerCase());
    const value = sample.values[index] ?? 0;
    if (stack !== undefined && value > 0) add(root, stack, value);
  }
  if (focus !== undefined && root.value === 0) {
    throw new ProfileError('GW_PROFILE_NO_MATCH', `no function of the profile matches ${JSON.stringify(focus)}`);
  }
  return close(root);
}

function focused(frames: readonly Frame[], focus: string): readonly Frame[] | undefined {
  const outermost = frames.findLastIndex((frame) => frame.name.toLowerCase().includes(focus));
  return outermost < 0 ? undefined : frames.slice(0, outermost + 1);
}

function add(root: OpenNode, frames: readonly Frame[], value: number): void {
  root.value += value;
  let node = root;
  for (const frame of frames.toReversed()) {
    const key = functionKey(frame);
    const child = node.children.get(key) ?? { name: frame.name, value: 0, children: new Map<string, OpenNode>() };
    node.children.set(key, child);
    child.value += value;
    node = child;
  }
}

/** Without recursion on the way down: a stack may be deeper than the one of this process. */
function close(root: OpenNode): FlameNode {
  const closed = new Map<OpenNode, FlameNode>();
  const open: OpenNode[] = [root];
  for (let index = 0; index < open.length; index += 1) open.push(...(open[index]?.children.values() ?? []));
  for (const node of open.toReversed()) {
    const children = [...node.children.values()]
      .flatMap((child) => closed.get(child) ?? [])
      .sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    closed.set(node, { name: node.name, value: node.value, children });
  }
  return closed.get(root) ?? { name: root.name, value: root.value, children: [] };
}
