/** Guards of an admission whose commit was reported as failed. */

const ADMISSIONS = 'src/journal/admission/admissions.ts';
const STALE = 'test/continuity/failover/stale-admissions.spec.ts';
const failedAnd = (how) => `sends nothing if its commit falsely failed and the call is ${how}`;

export const RETRIES = [
  {
    name: 'retry-settled',
    guards: 'a retried admission of a call with a settlement',
    edits: [
      [
        ADMISSIONS,
        'OR EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id)',
        'OR EXISTS (SELECT FROM settlement s WHERE s.intent_id = i.id AND FALSE)',
      ],
    ],
    noticedBy: STALE,
    test: failedAnd('settled since'),
  },
  {
    name: 'retry-answered',
    guards: 'a retried admission of a call with an outcome',
    edits: [
      [
        ADMISSIONS,
        'EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id) OR',
        'EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id AND FALSE) OR',
      ],
    ],
    noticedBy: STALE,
    test: failedAnd('answered'),
  },
  {
    name: 'retry-refused',
    guards: 'a retried admission that was committed, and refused afterwards',
    edits: [
      [
        ADMISSIONS,
        'SELECT FROM refusal r WHERE r.id = i.id)',
        'SELECT FROM refusal r WHERE r.id = i.id AND FALSE)',
      ],
    ],
    noticedBy: STALE,
    test: failedAnd('refused'),
  },
  {
    name: 'retry-without-key',
    guards: 'a retried admission of a call whose key belongs to another one',
    edits: [[ADMISSIONS, 'AND c.intent_id <> i.id)', 'AND c.intent_id <> i.id AND FALSE)']],
    noticedBy: STALE,
    test: failedAnd('without its key'),
  },
  {
    name: 'retry-too-old',
    guards: 'a retried admission of a commit older than the sending deadline',
    edits: [
      [ADMISSIONS, 'if (row.ageMs > sendableForMs) throw', 'if (row.ageMs > sendableForMs * 1e9) throw'],
    ],
    noticedBy: STALE,
    test: failedAnd('too old'),
  },
  {
    name: 'retry-confirmed',
    guards: 'a retry that finds its row, and skips the wait for the synchronous standby',
    edits: [
      ['src/journal/call-journal.ts', '(again ? confirm() : undefined)', '(again ? undefined : undefined)'],
    ],
    noticedBy: 'test/continuity/failover/replication.full.spec.ts',
    test: 'loses no call and no response at failover after cancelled waits for it',
  },
  {
    name: 'slot-before-admission',
    guards: 'an intent of a request that still waits for the upstream',
    edits: [
      [
        'src/gateway/admission-control/permit-pool.ts',
        'this.used < this.size &&',
        'this.used < 10 * this.size &&',
      ],
    ],
    noticedBy: 'test/payments/sick-upstream.full.spec.ts',
    test: 'gets as many requests as it has connections, some wait, and the rest leave no trace',
  },
  {
    name: 'circuit-before-intent',
    guards: 'an intent of a request that an open circuit refuses',
    edits: [
      [
        'src/policy/decide.ts',
        'retryAfter === null || this.holdOn(request)',
        'retryAfter !== -1 || this.holdOn(request)',
      ],
    ],
    noticedBy: 'test/payments/open-circuit.full.spec.ts',
    test: 'refuses a payment before recording its intent, with Retry-After, and records the refusal',
  },
  {
    name: 'one-probe',
    guards: 'many probes of an open circuit at once',
    edits: [
      [
        'src/gateway/upstream/transport/circuit.ts',
        'if (this.probe !== undefined && this.probe !== request)',
        'if (false)',
      ],
    ],
    noticedBy: 'test/payments/open-circuit.full.spec.ts',
    test: 'sends one request as its probe, and refuses the others before their intents',
  },
  {
    name: 'probe-given-up',
    guards: 'a circuit that stays open after the proxy refused its probe',
    edits: [
      [
        'src/gateway/forwarding/admission.service.ts',
        'if (!isReleased) this.upstream.of(outgoing.account).giveUp(outgoing);',
        '',
      ],
    ],
    noticedBy: 'test/payments/open-circuit.full.spec.ts',
    test: 'passes the probe on when its request is refused, held or replayed',
  },
  {
    name: 'sent-by-its-deadline',
    guards: 'a request sent after its deadline',
    edits: [['src/gateway/forwarding/exchange.service.ts', 'performance.now() > call.sendBy || ', '']],
    noticedBy: 'test/payments/deadlines.spec.ts',
  },
  {
    name: 'shared-reads',
    guards: 'one database read per follower of a run',
    edits: [
      ['src/http/streams/shared-reads.ts', 'performance.now() - known.at < this.freshMs', 'this.freshMs < 0'],
    ],
    noticedBy: 'test/reconciliation/matching/reconciliation-following.full.spec.ts',
    test: 'reads as much for many followers of a run as for one',
  },
  {
    name: 'overdue-statements',
    guards: 'keys, sessions and previews slowed down by abandoned statements',
    edits: [['src/app/app.ts', 'app.get(SidePrisma).endOverdue(SIDE_OVERDUE_MS);', '']],
    noticedBy: 'test/continuity/failover/statement-canceler.full.spec.ts',
    test: 'ends on the server, and frees its connection',
  },
  {
    name: 'overdue-canceled',
    guards: 'a statement that continues after the answer to its request',
    edits: [['src/platform/database/pools/statement-canceler.ts', '      cancel(client);', '']],
    noticedBy: 'test/continuity/failover/statement-canceler.full.spec.ts',
    test: 'is canceled on the server, and does not run once its lock is free',
  },
  {
    name: 'reserve-released',
    guards: 'answers of payments in flight lost to a full database disk',
    edits: [
      [
        'src/continuity/space/reserve.ts',
        'this.releasing ??= this.release().finally(() => (this.releasing = undefined));',
        'this.lookedAt = performance.now();',
      ],
    ],
    noticedBy: 'test/continuity/failover/full-disk.full.spec.ts',
    test: 'responds to every sent payment, and refuses the others before sending',
  },
  {
    name: 'floor-of-free-space',
    guards: 'payments whose outcomes exceed the disk',
    edits: [
      [
        'src/gateway/may-pay/may-pay.service.ts',
        "return this.storage.obstacle && { kind: 'no_space', code: problemCodeOf(this.storage.obstacle) };",
        'return undefined;',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/unrecorded-outcomes.full.spec.ts',
    test: 'stops admission below the floor, before a write fails, and resumes it above',
  },
  {
    name: 'full-database-admits-nothing',
    guards: "intents that take the outcomes' space on a full database disk",
    edits: [['src/platform/storage/storage.service.ts', " || cause === 'disk_full'", '']],
    noticedBy: 'test/continuity/failover/full-disk.full.spec.ts',
    test: 'responds to every sent payment, and refuses the others before sending',
  },
  {
    name: 'full-data-dir-admits-nothing',
    guards: 'payments whose outcomes have no place if the database fails',
    edits: [['src/platform/storage/storage.service.ts', "place === 'data_dir' || ", '']],
    noticedBy: 'test/reconciliation/in-doubt/unrecorded-outcomes.full.spec.ts',
  },
  {
    name: 'quiet-before-all-clear',
    guards: 'an all-clear between two failures, and a log flooded by them',
    edits: [
      ['src/platform/storage/storage.service.ts', ' || performance.now() - observation.at < quietMs', ''],
    ],
    noticedBy: 'src/platform/storage/storage.service.spec.ts',
  },
  {
    name: 'code-of-used-up-connections',
    guards: 'an unclear refusal while other programs hold all connections',
    edits: [
      [
        'src/platform/storage/failures.ts',
        "too_many_connections: 'database_busy'",
        "too_many_connections: 'database_unavailable'",
      ],
    ],
    noticedBy: 'test/continuity/failover/database-failures.full.spec.ts',
  },
];
