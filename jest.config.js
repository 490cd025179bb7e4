/** ES modules all the way: Jest runs the TypeScript sources, worker threads run them through Node's own type stripping. */
export default {
  testEnvironment: 'node',
  // Tests start processes and worker threads; a busy machine may take its time.
  testTimeout: 90_000,
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts', '**/*.test.tsx'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.tsx?$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
          target: 'es2024',
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};
