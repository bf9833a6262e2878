const MAY_PAY = 'test/payments/may-pay.spec.ts';

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
