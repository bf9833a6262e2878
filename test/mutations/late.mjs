/** Guards against late answers, false rejections, late copies and slow bodies. */

const REJECTIONS = 'test/reconciliation/in-doubt/false-rejections.spec.ts';
const LATE = 'test/reconciliation/in-doubt/late-answers.spec.ts';
const CALLS = 'test/continuity/recovery/recovered-calls.full.spec.ts';
const DOUBTS = 'test/reconciliation/in-doubt/recovered-doubts.full.spec.ts';

export const LATE_ANSWERS = [
  {
    name: 'end-of-a-slow-body',
    guards: 'a long body whose end is sent after its lease',
    edits: [
      [
        'src/gateway/upstream/transport/undici-adapter.ts',
        'const obstacle = this.config.lastObstacle?.();\n    if (obstacle) throw new ' +
          'ExchangeFailed(obstacle, this.phase); // also',
        'const obstacle = undefined as FailureCode | undefined;\n    if (obstacle) throw new ' +
          'ExchangeFailed(obstacle, this.phase); // also',
      ],
    ],
    noticedBy: 'src/gateway/upstream/transport/undici-adapter.spec.ts',
    test: 'holds the end of the body back if it is too late',
  },
  {
    name: 'key-of-a-late-payment',
    guards: 'a free key although its call was paid after all',
    edits: [
      [
        'src/journal/settlement/double-payments.ts',
        'if (!isPaid(owner)) await giveKey',
        'if (isPaid(owner)) await giveKey',
      ],
    ],
    noticedBy: LATE,
    test: 'returns the key to its call after the concurrent duplicate was not executed',
  },
  {
    name: 'key-of-a-payment-that-failed-first',
    guards: 'two payouts with one key, the second listed as failed and then as paid, without an alarm',
    edits: [
      [
        'src/journal/settlement/settlements.ts',
        "return call.outcome?.kind === 'succeeded' &&",
        'return call.outcome === null &&',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/false-rejections.spec.ts',
    test: 'has its key again if the later payout failed',
  },
  {
    name: 'lock-of-a-late-payment',
    guards: 'an admission that takes over a key while its call turns out to be paid',
    edits: [
      [
        'src/journal/settlement/settlements.ts',
        'if (keyed.length > 0) await lockClients',
        'if (keyed.length < 0) await lockClients',
      ],
    ],
    noticedBy: LATE,
    test: 'returns the key during an admission that takes it over, and raises the alarm',
  },
  {
    name: 'approval-with-a-late-payment',
    guards: 'an approval of a call whose key was paid after all',
    edits: [
      [
        'src/journal/settlement/double-payments.ts',
        "return state === 'pending_approval' && rejectForKey",
        "return state === 'refused' && rejectForKey",
      ],
    ],
    noticedBy: LATE,
    test: 'returns the key, and declines the concurrent duplicate that waits for an approval',
  },
  {
    name: 'spool-before-retries',
    guards: 'outcomes waiting for their retries only in memory',
    edits: [
      [
        'src/journal/call-journal.ts',
        '{ beforeRetry: (closing) => this.keep(closing) },',
        '{ beforeRetry: () => Promise.resolve() },',
      ],
    ],
    noticedBy: 'test/continuity/recovery/spooled-outcomes.full.spec.ts',
    test: 'is on disk before its retry, which keeps all outcomes in a long queue',
  },
  {
    name: 'warnings-of-commits',
    guards: 'a commit whose warning the server suppresses',
    edits: [
      [
        'src/platform/database/pools/replication.ts',
        "'-c client_min_messages=warning'",
        "'-c client_min_messages=error'",
      ],
    ],
    noticedBy: 'test/continuity/failover/replication.full.spec.ts',
    test: 'blocks an admission until it confirms it, whatever client_min_messages is set to',
  },
  {
    name: 'time-of-restored-calls',
    guards: 'a restored call searched at the time of its recovery, and found unpaid',
    edits: [
      [
        'src/reconciliation/in-doubt/calls-in-doubt.ts',
        'coalesce(o.sent_at, ${received}, ${released})',
        'coalesce(o.sent_at, ${released})',
      ],
    ],
    noticedBy: DOUBTS,
  },
  {
    name: 'late-copies',
    guards: 'a call settled before the copy of its outcome was found',
    edits: [
      [
        'src/journal/recovery/recovery.ts',
        "if (kind === 'outcome') await settleByCopies(prisma, batch, timeouts);",
        'void settleByCopies;',
      ],
    ],
    noticedBy: CALLS,
    test: 'is settled by the copy of its outcome, and its key does not pay twice',
  },
  {
    name: 'key-of-paid-call',
    guards: 'a key held by a call in doubt, although another one was paid with it',
    edits: [
      ['src/journal/settlement/double-payments.ts', 'WHERE k.intent_id <> t.id', 'WHERE k.intent_id > t.id'],
    ],
    noticedBy: CALLS,
    test: 'leaves the key with the paid call, in any order of the copies',
  },
  {
    name: 'corrections',
    guards: 'a correction undone by a repeated recovery',
    edits: [
      [
        'src/journal/settlement/settled-by-upstream.ts',
        "AND s.record::json ->> 'source' = 'answer')",
        "AND s.record::json ->> 'source' = 'nobody')",
      ],
    ],
    noticedBy: CALLS,
    test: 'keeps later findings of a person, however often it is restored',
  },
  {
    name: 'order-of-contents',
    guards: 'a second repetition after a recovery',
    edits: [
      ['src/journal/recovery/recovery.ts', '  await orderContents(prisma);\n', '  void orderContents;\n'],
    ],
    noticedBy: 'test/continuity/recovery/recovered-guards.spec.ts',
    test: 'is not sent again by a retry of its repetition, in any order of the folders',
  },
  {
    name: 'lost-approvals',
    guards: 'a rejected call that was approved and sent in the recovery gap',
    edits: [['src/journal/recovery/recovery.ts', 'rows.map(({ intent_id: id }) => id)', '[]']],
    noticedBy: 'test/continuity/recovery/recovered-guards.spec.ts',
    test: 'is in doubt if it was rejected after a lost approval, and counts on the caps',
  },
  {
    name: 'lost-settlements',
    guards: 'a settlement of the recovery gap that a worker assumes to be known',
    edits: [
      [
        'src/reconciliation/sources/listings.service.ts',
        'if (row.epoch !== this.epoch) this.caches',
        'if (row.epoch < 0) this.caches',
      ],
    ],
    noticedBy: 'test/continuity/recovery/recovered-settlements.full.spec.ts',
  },
  {
    name: 'fenced-rejections',
    guards: 'a rejection on an old database of a call that was approved and sent',
    edits: [
      [
        'src/admin/approvals/approvals.service.ts',
        "this.mayPay.require('settle', {}, 'approver');",
        'void this.mayPay;',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
    test: 'rejects decisions about held calls, because an old database may lack an approval',
  },
  {
    name: 'believed-rejections',
    guards: 'a payment that the upstream made and answered with an error',
    edits: [
      [
        'src/gateway/upstream/answers/answer.ts',
        'const rejection = unlisted ? REJECTED : UNVERIFIED;',
        'const rejection = unlisted === undefined ? REJECTED : UNVERIFIED;',
      ],
    ],
    noticedBy: REJECTIONS,
    test: 'admits no more than the cap if the upstream pays and says',
  },
  {
    name: 'quiet-period-of-500',
    guards: 'a payment from a queue of the upstream after a 500',
    edits: [
      [
        'src/operations/lifecycle/rejections.ts',
        'upstreamStatus !== null && upstreamStatus < 500',
        'upstreamStatus !== null && upstreamStatus < 600',
      ],
    ],
    noticedBy: REJECTIONS,
    test: 'takes the full quiet period after a 500 with',
  },
  {
    name: 'doubted-operations',
    guards: 'rejections of an operation with a false one',
    edits: [['src/reconciliation/in-doubt/calls-in-doubt.ts', '&& !isDoubted(call)', '|| isDoubted(call)']],
    noticedBy: REJECTIONS,
    test: 'takes the full quiet period until the listed failure of a rejection is final',
  },
  {
    name: 'doubts-of-a-round',
    guards: 'a rejection judged in the round that finds a false one',
    edits: [
      [
        'src/reconciliation/in-doubt/rounds/poll.service.ts',
        'call.isRejected && !isDoubted(call)',
        'call.isRejected || isDoubted(call)',
      ],
    ],
    noticedBy: REJECTIONS,
    test: 'doubts a rejection in the round that finds the false one',
  },
  {
    name: 'clock-behind',
    guards: 'a rejected call that was paid, by an upstream whose clock is hours behind',
    edits: [
      [
        'src/reconciliation/sources/listings.service.ts',
        'since.getTime() - ZONE_ERROR_MS',
        'since.getTime()',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/local-times.spec.ts',
    test: 'keeps a rejected call in doubt whose transaction seems to be older',
  },
];
