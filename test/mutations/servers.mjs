/** Guards of clocks, and against several active database servers. */

const CONNECTIONS = 'src/continuity/fence/connections.service.ts';
const CHOICE = 'src/platform/database/servers/server-choice.ts';
const QUEUE = 'src/gateway/queue/queue-rules.ts';

export const SERVERS = [
  {
    name: 'one-server-at-a-time',
    guards: "payments on a connection to another server than the heartbeat's",
    edits: [
      [CONNECTIONS, 'if (found.server !== this.known.server) return', 'if (found.server === null) return'],
    ],
    noticedBy: 'test/continuity/failover/two-primaries.full.spec.ts',
    test: 'does not pay while its heartbeat and a new connection are on different primaries',
  },
  {
    name: 'old-connections-end',
    guards: 'admissions on pooled connections to a replaced server',
    edits: [[CONNECTIONS, 'return session?.server !== server ||', 'return']],
    noticedBy: 'test/continuity/failover/two-primaries.full.spec.ts',
  },
  {
    name: 'unsafe-connections',
    guards: 'payments on a connection whose session has unsafe settings',
    edits: [[CONNECTIONS, 'if (danger !== undefined && this.known.isSafe)', 'if (danger === null)']],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
    test: 'refuses to start in production with unsafe commit settings, unless allowed by name',
  },
  {
    name: 'writable-servers',
    guards: 'connections for payments to a read-only standby',
    edits: [[CHOICE, "if (target === 'read-write') return !isStandby && !isReadOnly;", '']],
    noticedBy: 'test/database/database-hosts.full.spec.ts',
    test: 'reports why each server was rejected, without the password',
  },
  {
    name: 'newest-timeline',
    guards: 'payments on an old primary that survives next to the new one',
    edits: [[CHOICE, "kind?.timeline ?? '00000000'", "'00000000'"]],
    noticedBy: 'test/database/database-hosts.full.spec.ts',
    test: 'connects to the newer primary',
  },
  {
    name: 'pooled-admissions',
    guards: 'payments on a server that a pooler has moved to',
    edits: [[CONNECTIONS, 'if (this.known && server !== this.known.server)', "if (server === '')"]],
    noticedBy: 'test/database/database-pooled.full.spec.ts',
    test: 'sends nothing admitted on a server other than that of the heartbeat',
  },
  {
    name: 'shared-session-locks',
    guards: 'two workers with one job behind a pooler in transaction mode',
    edits: [
      [
        'src/platform/database/checks/engine-check.ts',
        'if (held && shown && !alsoHeld) return;',
        'if (held && shown) return;',
      ],
    ],
    noticedBy: 'test/database/engine-check.full.spec.ts',
  },
  {
    name: 'hidden-locks',
    guards: 'a live instance declared dead because the server hides its lock',
    edits: [
      [
        'src/platform/database/checks/engine-check.ts',
        'if (held && shown && !alsoHeld) return;',
        'if (held && !alsoHeld) return;',
      ],
    ],
    noticedBy: 'test/database/engine-check.full.spec.ts',
    test: 'is refused that does not show advisory locks',
  },
  {
    name: 'engine-features',
    guards: 'a server that cannot run a guard of the schema',
    edits: [
      [
        'src/platform/database/checks/engine-check.ts',
        'if (lacking.length === 0) return;',
        'if (lacking) return;',
      ],
    ],
    noticedBy: 'test/database/engine-check.full.spec.ts',
  },
];

/** Guards of clocks, and of the IDs, times and days derived from them. */
export const CLOCKS = [
  {
    name: 'database-clock',
    guards: 'a wrong wall clock of a process',
    edits: [
      [
        'src/platform/database/clock.ts',
        'return this.best ? this.runningMs() + this.best.offsetMs : this.clocks.wall();',
        'return this.best ? this.clocks.wall() : this.runningMs();',
      ],
    ],
    noticedBy: 'test/continuity/failover/clocks.full.spec.ts',
  },
  {
    name: 'ids-of-the-database',
    guards: 'an ID with the time of a wrong clock',
    edits: [
      ['src/platform/database/ids.ts', 'const ms = Math.floor(this.time.nowMs());', 'const ms = Date.now();'],
    ],
    noticedBy: 'test/continuity/failover/clocks.full.spec.ts',
    test: 'takes IDs and times from the database clock',
  },
  {
    name: 'skewed-clock',
    guards: 'payments of an instance whose clock error exceeds the bound',
    edits: [
      [
        'src/continuity/fence/clock.service.ts',
        'if (certainMs > this.mostMs) this.raise',
        'if (certainMs === Infinity) this.raise',
      ],
    ],
    noticedBy: 'test/continuity/failover/clocks.full.spec.ts',
  },
  {
    name: 'days-of-the-database',
    guards: 'a day taken from a wrong clock. The database itself compares the day of a cap',
    edits: [
      [
        'src/platform/database/clock.ts',
        'new Date(this.nowMs() - days * DAY_MS)',
        'new Date(Date.now() - days * DAY_MS)',
      ],
    ],
    noticedBy: 'src/platform/database/clock.spec.ts',
  },
  {
    name: 'queue-of-stopped-database',
    guards: 'the key of a sent call, which an old database still has in its queue',
    edits: [[QUEUE, "stops.some(({ cause }) => cause === 'database_behind')", 'false']],
    noticedBy: 'test/queue/queue-rules.spec.ts',
    test: 'never ends it while the database may lack its release: another instance has stopped everything',
  },
  {
    name: 'queue-while-fenced',
    guards: 'the key of a sent call, on an instance that is fenced while its turn comes in an old database',
    edits: [[QUEUE, "this.mayPay.obstacleTo('settle') !== undefined", 'false']],
    noticedBy: 'test/queue/queue-rules.spec.ts',
    test: 'never ends it while the database may lack its release: the instance is fenced',
  },
];
