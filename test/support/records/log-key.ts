import { newSigningKey } from '../../../src/history/log/note';

/**
 * Log key of all proxies of a test. With separate DATA_DIRs, each would create its own key, which cannot
 * continue another proxy's log.
 */
export const LOG_KEY = newSigningKey('test');
