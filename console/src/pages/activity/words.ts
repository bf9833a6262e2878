import type { ActivityRecord } from '../../api/generated/schema';

/** How an act was performed. */
export const WAY_WORDS: Record<ActivityRecord['via'], string> = {
  api: 'by the API',
  console: 'in the console',
  cli: 'on the command line',
  start: 'at a start',
  worker: 'by the worker',
  proxy: 'by the proxy itself',
};
