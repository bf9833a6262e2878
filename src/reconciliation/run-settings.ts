import { ReconciliationConfig } from '../config/config';

/** What a run tolerates, frozen in it: it gives the same result whenever it is started again. */
export type RunSettings = Omit<ReconciliationConfig, 'schedule' | 'listingTimeoutMs'>;
