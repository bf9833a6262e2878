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
];
