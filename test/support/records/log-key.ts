import { newSigningKey } from '../../../src/history/log/note';

/**
 * The log key of all proxies of a test. Each has a DATA_DIR of its own, and would make a key of its own, which cannot
 * continue a log that another proxy began.
 */
export const LOG_KEY = newSigningKey('test');
