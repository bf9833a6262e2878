/**
 * Returns settings of a Postgres whose commits wait longer, as on a slower disk or for a synchronous standby.
 * Postgres itself waits, before it flushes: other commits join the flush, and locks are held meanwhile.
 * @param ms at most 100.
 */
export function slowCommits(ms) {
  return ms > 0 ? [`commit_delay=${Math.round(ms * 1_000)}`, 'commit_siblings=0'] : [];
}
