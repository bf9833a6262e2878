/** The guards against databases that come back from the past. See guards.mjs. */

const MODEL = 'model';

export const DATABASES = [
  {
    name: 'epoch-on-connections',
    guards: 'an old database behind a new connection, until the next heartbeat',
    edits: [['src/continuity/fence/epoch.service.ts', 'if (lack !== undefined) this.findBehind(lack);', 'void lack;']],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
    test: 'stops an instance whose last second is missing, before anything is sent',
  },
  {
    name: 'commits-since-heartbeat',
    guards: 'a database that lacks only the commits of the last second',
    edits: [
      [
        'src/continuity/fence/epoch.service.ts',
        'this.commits.add(kind, callId);\n  }\n\n  /** Whether',
        '}\n\n  /** Whether',
      ],
    ],
    noticedBy: 'test/history/log/epoch-evidence.full.spec.ts',
  },
  {
    name: 'heartbeat-not-counted-up',
    guards: 'an old database that catches up with the number of heartbeats by waiting',
    edits: [['src/continuity/heartbeat/beat.ts', '    WHERE instance.beat >= $2::bigint\n', '']],
    noticedBy: 'test/history/log/epoch-evidence.full.spec.ts',
  },
  {
    name: 'stop-of-an-old-database',
    guards: 'other instances that do not know that the database is old',
    edits: [['src/journal/stops/stops.ts', 'epoch.whileBehind((detail) => this.set(detail));', 'void this.set;']],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
  },
  {
    name: 'recovery-before-lifting',
    guards: 'a stop that is lifted before the database was recovered',
    edits: [
      ['src/admin/stops/stops.service.ts', 'if (await needsRecovery(tx, id))', 'if (!needsRecovery)'],
      ['src/journal/stops/stops.ts', 'AND (epoch IS NULL OR epoch < (SELECT max(number) FROM epoch))', ''],
    ],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
  },
  {
    name: 'server-of-the-epoch',
    guards: 'an instance without evidence that pays from a restored backup',
    edits: [
      ['src/continuity/fence/epoch.service.ts', 'if (found && isUnconfirmed(found, seen)) this.doubt();', ''],
      ['src/continuity/fence/epoch.service.ts', 'if (isUnconfirmed(beat, this.seen)) return this.doubt();', ''],
    ],
    noticedBy: 'test/continuity/recovery/moved-database.full.spec.ts',
  },
  {
    name: 'copies-of-admissions',
    guards: 'calls that an old database lacks, with their keys and amounts',
    edits: [['src/journal/call-journal.ts', 'for (const row of opened) if', 'for (const row of []) if']],
    noticedBy: MODEL,
    disaster: 'loss',
  },
  {
    name: 'copies-of-outcomes',
    guards: 'outcomes that an old database lacks',
    edits: [['src/journal/call-journal.ts', 'if (isSpooled) this.copies.addOutcome(record);', 'void record;']],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
  },
  {
    name: 'copies-of-approvals',
    guards: 'approvals that an old database lacks',
    edits: [
      [
        'src/admin/approvals/approvals.service.ts',
        'this.copies.addApproval(id, decided.reservedOn);',
        'void decided.reservedOn;',
      ],
    ],
    noticedBy: MODEL,
    disaster: 'loss',
  },
  {
    name: 'recovered-keys',
    guards: 'a key that is free again after a recovery',
    edits: [['src/journal/recovery/recovery.ts', 'WHERE claim_key IS NOT NULL\n', 'WHERE FALSE\n']],
    noticedBy: 'test/continuity/recovery/recovered-guards.spec.ts',
    test: 'is replayed to its key',
  },
  {
    name: 'persons-restored',
    guards: 'the cap and the idempotency keys of a person who called again before the calls were restored',
    edits: [
      ['src/journal/recovery/recovered-records.ts', 'record: { ...line.record, person_id: id }', 'record: line.record'],
    ],
    noticedBy: 'test/continuity/recovery/recovered-persons.full.spec.ts',
    test: 'has one row, one cap and one idempotency scope, even after another call before the recovery',
  },
  {
    name: 'erased-persons',
    guards: 'a person whose call waits for an approval, who could approve it after an erasure',
    edits: [
      ['src/history/retention/persons.ts', 'const erased = ids.filter((id) => !kept.has(id));', 'const erased = ids;'],
    ],
    noticedBy: 'test/history/retention/erase-persons.full.spec.ts',
    test: 'leaves a person whose call waits for an approval, so that they cannot approve it themselves',
  },
  {
    name: 'erased-keys',
    guards: 'a key that was erased and is used again',
    edits: [
      [
        'prisma/migrations/20261124000000_init/migration.sql',
        'c.key IN (a.key, hashed_key(a.key)) OFFSET 0',
        'c.key = a.key OFFSET 0',
      ],
    ],
    noticedBy: 'test/history/retention/erase-keys.full.spec.ts',
    test: 'are still taken',
  },
  {
    name: 'recovered-contents',
    guards: 'a request without a key that is repeated after a recovery',
    edits: [
      [
        'src/journal/recovery/recovery.ts',
        'json_array_elements_text(contents)\n',
        'json_array_elements_text(contents) WHERE FALSE\n',
      ],
    ],
    noticedBy: 'test/continuity/recovery/recovered-guards.spec.ts',
    test: 'is the first of two with the same content, without a key',
  },
  {
    name: 'recovered-reservations',
    guards: 'a cap that looks unused after a recovery',
    edits: [
      ['src/journal/recovery/recovery.ts', 'WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL', 'WHERE FALSE'],
    ],
    noticedBy: 'test/continuity/recovery/recovered-guards.spec.ts',
    test: 'counts on the caps',
  },
  {
    name: 'recovered-refunds',
    guards: 'a cap that looks spent after a recovery',
    edits: [['src/journal/recovery/recovery.ts', 'AND counted_usd IS NOT NULL HAVING', 'AND FALSE HAVING']],
    noticedBy: 'test/continuity/recovery/recovered-calls.full.spec.ts',
    test: 'counts what the outcome gave back',
  },
  {
    name: 'unreplicated-commits',
    guards: 'a commit that the synchronous standby has not confirmed',
    edits: [
      [
        'src/platform/database/pools/replication.ts',
        'if (query) query._canceledDueToError = new NotReplicated();',
        'void query;',
      ],
    ],
    noticedBy: 'test/continuity/failover/replication.full.spec.ts',
  },
  {
    name: 'unsafe-settings',
    guards: 'a server that loses commits in a crash',
    edits: [['src/continuity/fence/durability.service.ts', "if (fsync !== 'on')", "if (fsync === 'on')"]],
    noticedBy: 'src/continuity/fence/durability.service.spec.ts',
  },
  {
    name: 'durable-readiness',
    guards: 'an instance that is ready while nothing can be committed',
    edits: [
      [
        'src/continuity/heartbeat/heartbeat.service.ts',
        'return this.client !== undefined && this.age < PROOF_PATIENCE_MS;',
        'return true;',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
  },
  {
    name: 'growing-ids',
    guards: 'IDs that repeat or go back with the clock',
    edits: [
      [
        'src/platform/database/ids.ts',
        'if (ms > this.lastMs || (isCompared && !this.wasCompared)) this.begin(ms);',
        'if (ms !== this.lastMs) this.begin(ms);',
      ],
    ],
    noticedBy: 'src/platform/database/ids.spec.ts',
  },
  {
    name: 'spool',
    guards: 'an outcome that the database does not take, and whose process ends',
    edits: [['src/journal/call-journal.ts', 'await this.spooled.keep(closing.outcome);', 'void this.spooled;']],
    noticedBy: 'test/continuity/recovery/spooled-outcomes.full.spec.ts',
  },
  {
    name: 'abandoned-outcomes',
    guards: 'an answer that comes after its call was settled, and does not know it',
    edits: [['src/journal/settlement/settlements.ts', '&& !(await abandon(tx, call.intent))', '&& !abandon']],
    noticedBy: 'test/reconciliation/in-doubt/late-answers.spec.ts',
    test: 'becomes a settlement',
  },
  {
    name: 'one-key-two-payments',
    guards: 'two payments under one key that nobody hears of',
    edits: [['src/journal/settlement/keys-paid-twice.ts', 'if (told) return;', 'if (told ?? true) return;']],
    noticedBy: 'test/reconciliation/in-doubt/late-answers.spec.ts',
  },
  {
    name: 'restarting-database',
    guards: 'a start that ends because Postgres restarts',
    edits: [['src/platform/database/servers/once-reachable.ts', "return state === 'unavailable' || ", 'return ']],
    noticedBy: 'src/platform/database/servers/once-reachable.full.spec.ts',
  },
  {
    name: 'words-of-errors',
    guards: 'the message of an unexpected error, which can quote a secret, on a terminal',
    edits: [['src/platform/logging/failure.ts', 'chainOf(error).map(describeError)', '[{ type: String(error) }]']],
    noticedBy: 'test/cli/cli-failures.spec.ts',
  },
  {
    name: 'evidence-of-workers',
    guards: 'payments on an old database that only a worker knows to be old',
    edits: [['src/worker/worker.module.ts', '        DatabaseBehindStop,\n', '']],
    noticedBy: 'test/history/log/worker-evidence.spec.ts',
  },
];
