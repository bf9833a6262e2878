import { codeOf } from '../errors/error-code';
import { DatabaseCode } from '../errors/outages';

/** The two locations of data that the proxy must not lose. */
export const STORAGE_LOCATIONS = ['database', 'data_dir'] as const;
export type StorageLocation = (typeof STORAGE_LOCATIONS)[number];

/** Causes of failing writes. */
export const CAUSES = ['unreachable', 'disk_full', 'read_only', 'io_error', 'too_many_connections'] as const;
export type Cause = (typeof CAUSES)[number];

/** The operator's remedy for each cause. */
export const REMEDIES: Readonly<Record<StorageLocation, Partial<Record<Cause, string>>>> = {
  database: {
    unreachable: 'The database does not confirm a durable write. Check the server and the network.',
    disk_full: 'The disk of the database is full. Free some space. Payments resume by themselves.',
    read_only:
      'The database accepts no writes: it is a standby, or default_transaction_read_only is on. Check ' +
      'which server DATABASE_URL names, and the setting.',
    io_error:
      'The database cannot read or write its files, or a file is damaged. Check the disk and the log of ' +
      'the server before anything else.',
    too_many_connections:
      'The database accepts no more connections. Lower DATABASE_POOL_SIZE, end other clients, or raise ' +
      'max_connections.',
  },
  data_dir: {
    disk_full: 'The disk of DATA_DIR is full. Free some space. Payments resume by themselves.',
    read_only: 'DATA_DIR is mounted read-only. Mount it with write access. Payments resume by themselves.',
    io_error: 'DATA_DIR cannot be written. Check its disk. Payments resume by themselves.',
  },
};

/** Node's codes for a file that could not be written. */
const FILE_CODES: Readonly<Record<string, Cause>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'read_only',
  EIO: 'io_error',
};

/** Returns the cause of a failed write to a file. Undefined if its disk is not the cause. */
export function causeOfFile(error: unknown): Cause | undefined {
  return FILE_CODES[codeOf(error) ?? ''];
}

const CODES: Readonly<Record<Cause, DatabaseCode>> = {
  unreachable: 'database_unavailable',
  disk_full: 'storage_full',
  read_only: 'database_read_only',
  io_error: 'storage_failing',
  too_many_connections: 'database_busy',
};

/** Returns the error code of requests during a failure. */
export function problemCodeOf({ place, cause }: { place: StorageLocation; cause: Cause }): DatabaseCode {
  return place === 'data_dir' && cause === 'read_only' ? 'storage_failing' : CODES[cause];
}
