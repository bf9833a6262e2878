import { Instant } from '../platform/fencing/instant';

/**
 * When a call was released to be sent, by the clocks of this process. It is read before the committing statement is
 * issued. The database's own time (`recorded_at`, `decided_at`) is therefore never earlier, however long the process is
 * frozen before it learns of the commit.
 */
export type Release = Instant;
