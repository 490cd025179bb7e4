import { text, type Endpoint } from './endpoint.ts';

/** `/quitquitquit`: starts the graceful shutdown and answers once the minimum deadline has passed. */
export function quitEndpoint(quit: () => Promise<void>): Endpoint {
  return {
    path: '/quitquitquit',
    methods: ['POST'],
    guarded: ['POST'],
    summary: 'Graceful shutdown',
    handle: async () => {
      await quit();
      return text(200, 'shutdown now\n');
    },
  };
}
