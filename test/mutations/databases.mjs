/** Guards against databases restored to an earlier state. */

const MODEL = 'model';
const EPOCH = 'src/continuity/fence/epoch.service.ts';
const CALL_JOURNAL = 'src/journal/call-journal.ts';
const RECOVERY = 'src/journal/recovery/recovery.ts';
const DURABILITY_EPOCH = 'test/continuity/failover/durability-epoch.full.spec.ts';
const RECOVERED_GUARDS = 'test/continuity/recovery/recovered-guards.spec.ts';

export const DATABASES = [
  {
    name: 'epoch-on-connections',
    guards: 'an old database behind a new connection, until the next heartbeat',
    edits: [[EPOCH, 'if (lack !== undefined) this.findBehind(lack);', 'void lack;']],
    noticedBy: DURABILITY_EPOCH,
    test: 'stops an instance that lost its last second, before it sends anything',
  },
  {
    name: 'commits-since-heartbeat',
    guards: 'a database that lacks only the commits of the last second',
    edits: [[EPOCH, 'this.commits.add(kind, callId);\n  }\n\n  /** Whether', '}\n\n  /** Whether']],
    noticedBy: 'test/history/log/epoch-evidence.full.spec.ts',
  },
  {
    name: 'heartbeat-not-counted-up',
    guards: 'an old database that reaches the number of heartbeats by waiting',
    edits: [['src/continuity/heartbeat/beat.ts', '    WHERE instance.beat >= $2::bigint\n', '']],
    noticedBy: 'test/history/log/epoch-evidence.full.spec.ts',
  },
  {
    name: 'old-database-stop',
    guards: 'instances unaware that the database is old',
    edits: [
      ['src/journal/stops/stops.ts', 'epoch.whileBehind((detail) => this.set(detail));', 'void this.set;'],
    ],
    noticedBy: DURABILITY_EPOCH,
  },
  {
    name: 'recovery-before-lifting',
    guards: 'a stop lifted before the recovery of the database',
    edits: [
      ['src/admin/stops/stops.service.ts', 'if (await needsRecovery(tx, id))', 'if (!needsRecovery)'],
      ['src/journal/stops/stops.ts', 'AND (epoch IS NULL OR epoch < (SELECT max(number) FROM epoch))', ''],
    ],
    noticedBy: DURABILITY_EPOCH,
  },
  {
    name: 'server-of-the-epoch',
    guards: 'payments from a restored backup by an instance without evidence',
    edits: [
      [EPOCH, 'if (found && isUnconfirmed(found, seen)) this.doubt();', ''],
      [EPOCH, 'if (isUnconfirmed(beat, this.seen)) return this.doubt();', ''],
    ],
    noticedBy: 'test/continuity/recovery/moved-database.full.spec.ts',
  },
  {
    name: 'copies-of-admissions',
    guards: 'calls missing from an old database, with their keys and amounts',
    edits: [[CALL_JOURNAL, 'for (const row of opened) if', 'for (const row of []) if']],
    noticedBy: MODEL,
    disaster: 'loss',
  },
  {
    name: 'copies-of-outcomes',
    guards: 'outcomes missing from an old database',
    edits: [[CALL_JOURNAL, 'if (isSpooled) this.copies.addOutcome(record);', 'void record;']],
    noticedBy: DURABILITY_EPOCH,
  },
  {
    name: 'copies-of-approvals',
    guards: 'approvals missing from an old database',
    edits: [
      [
        'src/admin/approvals/approvals.service.ts',
        'this.copies.addApproval(id, result.reservedOn);',
        'void result.reservedOn;',
      ],
    ],
    noticedBy: MODEL,
    disaster: 'loss',
  },
  {
    name: 'recovered-keys',
    guards: 'a key that is free after a recovery',
    edits: [[RECOVERY, 'WHERE claim_key IS NOT NULL\n', 'WHERE FALSE\n']],
    noticedBy: RECOVERED_GUARDS,
    test: 'is replayed for its key',
  },
  {
    name: 'persons-restored',
    guards: 'a fresh cap and fresh idempotency keys for a person who called before the restore',
    edits: [
      [
        'src/journal/recovery/recovered-records.ts',
        'record: { ...line.record, person_id: id }',
        'record: line.record',
      ],
    ],
    noticedBy: 'test/continuity/recovery/recovered-persons.full.spec.ts',
    test: 'has one row, one cap and one idempotency scope, even after a call before the recovery',
  },
  {
    name: 'erased-persons',
    guards: 'an approver unrecognized as the requester after an erasure',
    edits: [
      [
        'src/history/retention/persons.ts',
        'const erased = ids.filter((id) => !kept.has(id));',
        'const erased = ids;',
      ],
    ],
    noticedBy: 'test/history/retention/erase-persons.full.spec.ts',
    test: 'keeps a person while their call is held, to prevent its approval by the requester',
  },
  {
    name: 'erased-keys',
    guards: 'a free key after its erasure',
    edits: [
      [
        'prisma/migrations/20261124000000_init/migration.sql',
        'c.key IN (a.key, hashed_key(a.key)) OFFSET 0',
        'c.key = a.key OFFSET 0',
      ],
    ],
    noticedBy: 'test/history/retention/erase-keys.full.spec.ts',
    test: 'remains taken',
  },
  {
    name: 'recovered-contents',
    guards: 'a repetition without a key after a recovery',
    edits: [
      [RECOVERY, 'json_array_elements_text(contents)\n', 'json_array_elements_text(contents) WHERE FALSE\n'],
    ],
    noticedBy: RECOVERED_GUARDS,
    test: 'counts as the first call with its content, without a key',
  },
  {
    name: 'recovered-reservations',
    guards: 'a cap that appears unused after a recovery',
    edits: [[RECOVERY, 'WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL', 'WHERE FALSE']],
    noticedBy: RECOVERED_GUARDS,
    test: 'counts against the caps',
  },
  {
    name: 'recovered-refunds',
    guards: 'a cap that appears spent after a recovery',
    edits: [[RECOVERY, 'AND counted_usd IS NOT NULL HAVING', 'AND FALSE HAVING']],
    noticedBy: 'test/continuity/recovery/recovered-calls.full.spec.ts',
    test: 'counts the amount that the outcome had released',
  },
  {
    name: 'unreplicated-commits',
    guards: 'a commit unconfirmed by the synchronous standby',
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
    guards: 'a ready instance while nothing can be committed',
    edits: [
      [
        'src/continuity/heartbeat/heartbeat.service.ts',
        'return this.client !== undefined && this.age < PROOF_TIMEOUT_MS;',
        'return true;',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
  },
  {
    name: 'growing-ids',
    guards: 'repeated IDs, or IDs that go back with the clock',
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
    guards: 'an outcome lost with its process while the database rejects it',
    edits: [[CALL_JOURNAL, 'await this.spooled.keep(closing.outcome);', 'void this.spooled;']],
    noticedBy: 'test/continuity/recovery/spooled-outcomes.full.spec.ts',
  },
  {
    name: 'abandoned-outcomes',
    guards: 'a settlement that does not know an answer of the same moment',
    edits: [
      [
        'src/journal/settlement/settlements.ts',
        '!answered.has(call.intent.id)',
        'answered.size >= 0 && call',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/late-answers.spec.ts',
    test: 'is the outcome, which a settlement without it must not contradict',
  },
  {
    name: 'one-key-two-payments',
    guards: 'two payments with one key, without an alarm',
    edits: [
      [
        'src/journal/settlement/double-payments.ts',
        'await raiseOnce(tx, alarm, [owner.id])',
        'Boolean(void alarm)',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/late-answers.spec.ts',
  },
  {
    name: 'restarting-database',
    guards: 'a start that fails because Postgres restarts',
    edits: [
      ['src/platform/database/servers/once-reachable.ts', "return state === 'unavailable' || ", 'return '],
    ],
    noticedBy: 'src/platform/database/servers/once-reachable.full.spec.ts',
  },
  {
    name: 'error-messages',
    guards: 'secrets on a terminal, quoted by an unexpected error',
    edits: [
      ['src/platform/logging/failure.ts', 'chainOf(error).map(describeError)', '[{ type: String(error) }]'],
    ],
    noticedBy: 'test/cli/cli-failures.spec.ts',
  },
  {
    name: 'worker-evidence',
    guards: 'payments on an old database detected only by a worker',
    edits: [['src/worker/worker.module.ts', '        DatabaseBehindStop,\n', '']],
    noticedBy: 'test/history/log/worker-evidence.spec.ts',
  },
];
