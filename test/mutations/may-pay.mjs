const MAY_PAY = 'test/payments/may-pay.spec.ts';
const QUEUE_RULES = 'test/queue/queue-rules.spec.ts';
const RECOVERED_QUEUE = 'test/queue/recovered-queue.spec.ts';

/**
 * Checks before every send.
 *
 * @type {import('./guards.mjs').Guard[]}
 */
export const CHECKS = [
  {
    name: 'order-of-checks',
    guards: 'an error that depends on the endpoint instead of the order of checks',
    edits: [
      [
        'src/gateway/may-pay/may-pay.service.ts',
        "send: ['fence', 'space', 'room', 'stop', 'circuit']",
        "send: ['circuit', 'stop', 'room', 'space', 'fence']",
      ],
    ],
    noticedBy: MAY_PAY,
  },
  {
    name: 'order-of-overload',
    guards: 'an overload error from an instance that must not pay',
    edits: [
      [
        'src/gateway/admission-control/load-shedder.service.ts',
        'this.mayPay.obstacleTo(act, { full }) ?? full',
        'full',
      ],
    ],
    noticedBy: MAY_PAY,
  },
  {
    name: 'approval-asks-again',
    guards: 'an approval on an instance that was fenced during its checks',
    edits: [
      [
        'src/admin/approvals/approvals.service.ts',
        "this.mayPay.require('send', {}, 'approver'); // again, because other services were queried " +
          'meanwhile',
        '',
      ],
    ],
    noticedBy: MAY_PAY,
    test: 'repeats the checks before it decides a held call',
  },
  {
    name: 'approval-asks-circuit',
    guards: 'an approval spent while the circuit is open',
    edits: [
      [
        'src/admin/approvals/approvals.service.ts',
        "await this.mayPay.requireSending(clientId, { account, outgoing }, 'approver');",
        '',
      ],
    ],
    noticedBy: MAY_PAY,
    test: 'tells an approver that the call is still pending, and never to resend it',
  },
  {
    name: 'fenced-replay',
    guards: 'a replay answered from an old database',
    edits: [
      ['src/gateway/forwarding/admission.service.ts', "this.mayPay.require('replay');", ''],
      [
        'src/gateway/forwarding/reply/replay.service.ts',
        "|| isUnreachable || this.mayPay.obstacleTo('replay')",
        '|| isUnreachable',
      ],
    ],
    noticedBy: MAY_PAY,
    test: 'replays an answer despite full storage, stops and circuits, but not while fenced',
  },
  {
    name: 'probe-asks-all',
    guards: 'a probe of the listing despite full storage or a stop',
    edits: [
      [
        'src/reconciliation/in-doubt/rounds/probe.service.ts',
        "await this.mayPay.requireSending(caller.clientId, { account: upstream, outgoing }, 'app');",
        '',
      ],
    ],
    noticedBy: MAY_PAY,
    test: 'runs all checks for a listing probe, and records the probe only once it is sent',
  },
  {
    name: 'verdicts-while-fenced',
    guards: 'a verdict of a worker that was fenced while reading the listing',
    edits: [
      [
        'src/reconciliation/in-doubt/rounds/poll.service.ts',
        "this.mayPay.require('settle');",
        'void this.mayPay;',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/resolver-rounds.full.spec.ts',
  },
  {
    name: 'followed-while-fenced',
    guards: 'the end of a deleted link, by a worker that was fenced while settling others',
    edits: [
      [
        'src/reconciliation/following/follow-up.service.ts',
        "this.mayPay.require('settle'); // again, because reading and settling take long",
        '',
      ],
    ],
    noticedBy: 'test/reconciliation/in-doubt/resolver-rounds.full.spec.ts',
  },
  {
    name: 'hidden-app-caps',
    guards: 'the spending of a whole app shown to its end users',
    edits: [
      [
        'src/gateway/may-pay/obstacle-problem.ts',
        "isOfApp ? { kind: 'over_cap_of_app' } : obstacle",
        'isOfApp ? obstacle : obstacle',
      ],
    ],
    noticedBy: 'src/gateway/may-pay/obstacles.spec.ts',
    test: "hides the app's spending from an end user, and shows the app its client's cap",
  },
  {
    name: 'fenced-alarms',
    guards: 'doubts and alarms by a worker on an old database',
    edits: [
      [
        'src/reconciliation/book/book.service.ts',
        "this.mayPay.require('settle'); await",
        'void this.mayPay; await',
      ],
    ],
    noticedBy: 'test/reconciliation/book/overtaken.spec.ts',
    test: 'is not written by a worker that is fenced after it has entered the reading',
  },
  {
    name: 'fenced-attributions',
    guards: 'a settlement by a worker on an old database',
    edits: [
      [
        'src/reconciliation/book/book.service.ts',
        "this.mayPay.require('settle'); // This worker",
        'void this.mayPay; // This worker',
      ],
    ],
    noticedBy: 'test/reconciliation/book/overtaken.spec.ts',
    test: 'is not written by a worker that is fenced after it has compared the reading',
  },
];

/**
 * Queued calls.
 *
 * @type {import('./guards.mjs').Guard[]}
 */
export const QUEUE = [
  {
    name: 'queue-stop',
    guards: 'a queued call that is sent after a stop that was set since its claim',
    edits: [
      [
        'src/gateway/queue/queue-rules.ts',
        'if (stopFor(facts.stops, { clientId, operation }))',
        'if (false)',
      ],
    ],
    noticedBy: QUEUE_RULES,
    test: 'waits, too, if the stop is set between its claim and its release',
  },
  {
    name: 'queue-stopped-operation',
    guards: 'a queued call that waits for older ones, which a stop covers',
    edits: [['src/gateway/may-pay/may-pay.service.ts', '|| isStopped(clientId, name)', '']],
    noticedBy: QUEUE_RULES,
    test: 'comes although a stop covers all older calls of its client',
  },
  {
    name: 'queue-unknown-admission',
    guards: 'a queued call whose app may still be told that it was not admitted',
    edits: [['src/journal/queue/queue.ts', 'process <> ALL (ARRAY(SELECT live_processes()))', 'TRUE']],
    noticedBy: QUEUE_RULES,
    test: 'does not come while another process may still tell its app that it was not admitted',
  },
  {
    name: 'queue-refused',
    guards: 'a queued call that its app was told is refused',
    edits: [['src/journal/queue/releases.ts', "WHERE ${stateIn(['queued'])}", 'WHERE TRUE']],
    noticedBy: QUEUE_RULES,
    test: 'does not come if it was refused',
  },
  {
    name: 'queue-gap',
    guards: 'a queued call that may repeat a payment of a recovery gap',
    edits: [['src/gateway/queue/queue-rules.ts', 'if (facts.unexplained.has(id))', 'if (false)']],
    noticedBy: QUEUE_RULES,
    test: 'delays it while it may repeat a payment of a recovery gap',
  },
  {
    name: 'queue-content',
    guards: 'a queued call with another body than the recorded one',
    edits: [
      [
        'src/gateway/queue/queue-rules.ts',
        'const change = changeOf(call);',
        'const change = undefined as ReturnType<typeof changeOf>;',
      ],
    ],
    noticedBy: QUEUE_RULES,
    test: 'ends it if its body is not the recorded one (content_changed)',
  },
  {
    name: 'queue-broken-rule',
    guards: 'a queued call that its client may no longer make',
    edits: [
      ['src/gateway/queue/queue-rules.ts', 'brokenRule(requester, operation, call.items, isOwn) ??', ''],
    ],
    noticedBy: QUEUE_RULES,
    test: 'ends it as not sent (scope_missing) if its client may no longer pay',
  },
  {
    name: 'queue-recipients',
    guards: 'a queued call to a recipient that was blocked meanwhile',
    edits: [['src/gateway/queue/queue-rules.ts', '?? forbiddenTo(requester, call, facts)', '']],
    noticedBy: QUEUE_RULES,
    test: 'ends it if one of its recipients is blocked',
  },
  {
    name: 'queue-recovered',
    guards: 'a queued call whose release an older database lacks',
    edits: [['src/journal/recovery/recovery.ts', 'await doubtQueued(prisma); // after', '// after']],
    noticedBy: RECOVERED_QUEUE,
    test: 'is in doubt and is not sent, whether the database has it or only the copies',
  },
  {
    name: 'queue-key-paid',
    guards: 'a queued call whose key turns out to be paid',
    edits: [
      [
        'src/journal/settlement/double-payments.ts',
        "if (state === 'queued') return endQueued(tx, owner, 'key_paid');",
        "if (state === 'queued') return true;",
      ],
    ],
    noticedBy: RECOVERED_QUEUE,
    test: 'ends if another call with its key turns out to be paid',
  },
];
