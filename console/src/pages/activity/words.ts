import type { ActivityRecord } from '../../api/generated/schema';

/** Channels of actions. */
export const CHANNEL_WORDS: Record<ActivityRecord['via'], string> = {
  api: 'through the API',
  console: 'in the console',
  cli: 'on the command line',
  start: 'at startup',
  worker: 'by a worker',
  proxy: 'by the proxy itself',
};
