import type { Arrivals } from './arrivals/arrivals';
import { Behaviour } from './behaviour/behaviour';
import { Database } from './database';
import type { Events } from './events/events';
import type { Faults } from './faults/faults';
import type { Connections } from './http/connections';
import type { UnitName } from './http/unit-name';
import type { Payouts } from './payouts/carry-out';
import type { ReadWriteLock } from './read-write-lock';
import type { Timers } from './timers';

/** The parts that all requests of one sandbox share. */
export interface Service {
  database: Database;
  behaviour: Behaviour;
  unit: UnitName;
  arrivals: Arrivals;
  payouts: Payouts;
  faults: Faults;
  events: Events;
  lock: ReadWriteLock;
  timers: Timers;
  connections: Connections;
  /** Names of all operations, such as 'POST /payouts/airtime'. */
  operations: Set<string>;
}
