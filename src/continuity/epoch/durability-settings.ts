/** Settings of Postgres that decide whether a confirmed commit survives a crash or a failover. */
export interface DurabilitySettings {
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  synchronousStandbyNames: string;
}

/** The settings of the session, as `DurabilitySettings`. */
export const DURABILITY_SETTINGS = `json_build_object(
  'fsync', current_setting('fsync'),
  'fullPageWrites', current_setting('full_page_writes'),
  'synchronousCommit', current_setting('synchronous_commit'),
  'synchronousStandbyNames', current_setting('synchronous_standby_names'))`;
