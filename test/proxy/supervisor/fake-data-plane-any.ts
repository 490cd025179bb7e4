import type { DataPlaneInit } from '../../../proxy/supervisor/data-plane.ts';
import { createDataPlane as create } from './fake-data-plane.ts';

/** Like the fake data plane, for configurations with endpoints. */
export function createDataPlane(init: DataPlaneInit) {
  const plane = create(init);
  const prepare = plane.prepare.bind(plane);
  return Object.assign(plane, {
    prepare: (...args: Parameters<typeof prepare>) => prepare(args[0], args[1], { ...args[2], endpoints: new Map() }),
  });
}
