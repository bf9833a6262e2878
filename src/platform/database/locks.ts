/**
 * The numbers of all advisory locks. Some have a second number, or a text that is hashed with the number as
 * its seed. Those of SQL functions cannot change: the migrations have the same numbers.
 */
export const LOCKS = {
  /** Monthly partitions are created by one process at a time: `make_partitions()` of the migration `init`. */
  partitions: 7_070_001,
  /** The guard against duplicates across clients admits one batch at a time. */
  acrossClients: 7_070_002,
  /** A live process, with its number. `live_processes()` of the migration `init` looks for it. */
  process: 7_070_003,
  /** One sealer adds to the log at a time. */
  sealer: 7_070_004,
  /** Runs begin one at a time, because their number is limited. */
  beginningRun: 7_070_005,
  /** A run in progress on a live connection: the seed of the hash of its ID. */
  run: 7_070_006,
  /**
   * The search index. While it is held, no entries are written from data that was removed meanwhile. The
   * migrations take it in `index_calls()`, `build_search_indexes()` and `rebuild_search_index()`.
   */
  searchIndex: 7_070_010,
  /** The book of the upstream's transactions is written by one process at a time: also `enter_calls()`. */
  book: 7_070_011,
  /** Statements end one at a time. */
  statement: 7_070_012,
  /** A worker's job, with the number of the job (`JOBS`). */
  job: 7_070_014,
  /** Decisions about findings are made one at a time. */
  findingStep: 7_070_020,
  /** Shares of fees are numbered in the order of their commits. */
  expectedFee: 7_070_021,
  /** Stops are written one at a time. */
  stop: 7_070_022,
  /** The live process that started the embedded server. */
  embedded: 7_070_023,
  /** The live process that started the sandbox. */
  sandbox: 7_070_024,
  /** Probe of a startup check, with a random number. */
  probe: 7_070_031,
  /** Changes under dual control are made and decided one at a time. */
  change: 7_070_032,
  /** People are merged one at a time: `merge_people()` of the migration `people`. */
  people: 7_070_033,
  /** Prisma's own migration lock, so that its command line and `migrate` exclude each other. */
  migration: 72_707_369,
} as const;
