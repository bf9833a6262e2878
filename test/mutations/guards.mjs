import { BOOK } from './book.mjs';
import { FEES, PERSONS } from './caps.mjs';
import { DATABASES } from './databases.mjs';
import { DUAL_CONTROL } from './dual-control.mjs';
import { EPHEMERAL_KEYS } from './ephemeral-keys.mjs';
import { AUDIT_EVIDENCE } from './evidence.mjs';
import { LATE_ANSWERS } from './late.mjs';
import { LOG_KEYS } from './log-keys.mjs';
import { CHECKS, QUEUE } from './may-pay.mjs';
import { NETWORK } from './network.mjs';
import { PAGE_SESSIONS } from './page-sessions.mjs';
import { ANSWERS, RECIPIENTS } from './recipients.mjs';
import { RECOVERIES } from './recoveries.mjs';
import { RETRIES } from './retries.mjs';
import { RUNS } from './runs.mjs';
import { CLOCKS, SERVERS } from './servers.mjs';
import { SIGN_INS } from './sign-ins.mjs';
import { ACCESS_TOKENS } from './tokens.mjs';

/**
 * All guards, each with the edit that removes it and the test that detects the removal.
 *
 * @typedef {object} Guard
 * @property {string} name
 * @property {string} guards the failure that the guard prevents.
 * @property {[file: string, text: string, replacement: string][]} edits each text occurs once in its file.
 * @property {string} noticedBy a spec file, or `model` for schedules of test/model/model.spec.ts.
 * @property {'suspension' | 'loss'} [disaster] the disaster in all schedules of the model.
 * @property {string} [test] words in the name of the test that must fail. Others of the file are skipped.
 */

const MODEL = 'model';

/** @type {Guard[]} */
const CALLS = [
  {
    name: 'lease',
    guards: 'a call sent after its lease, which was settled and paid again meanwhile',
    edits: [
      ['src/gateway/upstream/upstream-account.ts', "isTooLate?.() ? 'too_late' : undefined", 'undefined'],
    ],
    noticedBy: MODEL,
    disaster: 'suspension',
  },
  {
    name: 'normal-form',
    guards: 'another spelling of a request with a used key, or repeated without one',
    edits: [
      [
        'src/gateway/forwarding/admission-request.ts',
        'content: normalForm(operation, input)',
        'content: JSON.stringify(input ?? normalForm(operation, input))',
      ],
    ],
    noticedBy: 'test/continuity/recovery/reused-keys.full.spec.ts',
    test: 'replays the response to the same request in another spelling',
  },
  {
    name: 'reused-key-advice',
    guards: 'advice to use a new key for the same payment in other words',
    edits: [
      [
        'src/gateway/forwarding/reply/replay.service.ts',
        'return !paymentsIn(operation, other).some((payment) => payments.has(payment));',
        'return payments.size >= 0 && paymentsIn(operation, other).length >= 0;',
      ],
    ],
    noticedBy: 'test/continuity/recovery/reused-keys.full.spec.ts',
    test: 'requires a person to decide about the same payment in other words',
  },
  {
    name: 'contact-in-key',
    guards: 'an email address, a phone number or a handle in an idempotency key',
    edits: [['src/http/validation/idempotency-key.ts', 'if (keyNamesContact(key) || ', 'if (']],
    noticedBy: 'src/http/validation/idempotency-key.spec.ts',
  },
  {
    name: 'unrecorded-suggestion',
    guards: 'a record of the recipient suggested for a refused request',
    edits: [
      [
        'src/http/validation/faults.ts',
        "return { pointer: tokens.join('/'), detail };",
        "return { pointer: tokens.join('/'), detail: `${detail} ${faults[0]?.suggestion?.slice(1)}` };",
      ],
    ],
    noticedBy: 'test/interface/fields/interface-over-http.spec.ts',
    test: 'suggests the probable recipient of a refused payment, and does not record it',
  },
  {
    name: 'settled-after-lease',
    guards: 'a settlement of a call that may still be sent',
    edits: [
      [
        'src/journal/settlement/settled-call.ts',
        'return { goneMs: overAfterMs(timeouts), aliveMs: givenUpAfterMs(timeouts) };',
        'return { goneMs: 0 * overAfterMs(timeouts), aliveMs: 0 * givenUpAfterMs(timeouts) };',
      ],
    ],
    noticedBy: 'src/journal/settlement/settled-call.spec.ts',
    test: 'never settles a call that may still be sent, at any settings',
  },
  {
    name: 'longer-lease',
    guards: 'a settlement by an instance with shorter timeouts than the sending one',
    edits: [
      [
        'src/journal/settlement/settled-call.ts',
        '+ greatest(0, (SELECT in_flight_ms',
        '+ 0 * greatest(0, (SELECT in_flight_ms',
      ],
    ],
    noticedBy: 'test/continuity/failover/stale-admissions.spec.ts',
  },
  {
    name: 'moved-clock',
    guards: 'a settlement by the clock of a server that the database moved to',
    edits: [['src/journal/settlement/settled-call.ts', 'greatest(released_at, moved_at)', 'released_at']],
    noticedBy: 'test/continuity/failover/stale-admissions.spec.ts',
    test: 'is not settled while its process may still send, with longer timeouts or another clock',
  },
  {
    name: 'settled-while-fenced',
    guards: 'a manual settlement on an instance with a wrong clock or an old database',
    edits: [
      [
        'src/history/own-calls/settlements-by-hand.service.ts',
        "this.mayPay.require('settle', {}, 'settler');",
        'void this.mayPay;',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
    test: 'settles nothing by hand, because an old database or a wrong clock would settle too early',
  },
  {
    name: 'probe-lease',
    guards: 'a probe settled before its first byte',
    edits: [
      [
        'src/reconciliation/in-doubt/rounds/probe.service.ts',
        'ageOf(released) > this.sendableForMs',
        'ageOf(released) > this.sendableForMs * 1e9',
      ],
    ],
    noticedBy: 'test/reconciliation/runs/quiet-account.full.spec.ts',
    test: 'does not send a stale probe, because its call may have been settled since',
  },
  {
    name: 'retry-after-settlement',
    guards: 'a retried admission of a settled call, or of one whose key belongs to another call',
    edits: [
      [
        'src/journal/admission/admissions.ts',
        'if (row.isOver) throw',
        'if (row.isOver && row.ageMs < 0) throw',
      ],
    ],
    noticedBy: 'test/continuity/failover/stale-admissions.spec.ts',
  },
  {
    name: 'retry-after-stop',
    guards: 'a retried admission that was stopped meanwhile',
    edits: [['src/journal/admission/admissions.ts', "if (stop) return { kind: 'stopped', stop };", '']],
    noticedBy: 'test/continuity/failover/stale-admissions.spec.ts',
  },
  {
    name: 'retry-after-refusal',
    guards: 'a retried admission of a request that was refused as too late',
    edits: [
      [
        'src/journal/admission/admissions.ts',
        'if (!(await noneRefused(tx, admissions)))',
        'if (!(await noneRefused(tx, [])))',
      ],
    ],
    noticedBy: 'test/continuity/failover/frozen-database.full.spec.ts',
  },
  {
    name: 'fence-at-first-byte',
    guards: 'a call sent after its instance was fenced',
    edits: [
      [
        'src/gateway/upstream/upstream-account.ts',
        "effect !== 'read' && this.mayPay.obstacleTo('first_byte') ? 'fenced' :",
        '',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
  },
  {
    name: 'fence-before-admission',
    guards: 'an admission by an untrusted database',
    edits: [
      [
        'src/gateway/may-pay/may-pay.service.ts',
        "return this.fence.isRaised ? { kind: 'fenced' } : undefined;",
        'return undefined;',
      ],
    ],
    noticedBy: 'test/continuity/failover/fencing.spec.ts',
  },
];

/** @type {Guard[]} */
export const GUARDS = [
  ...CALLS,
  ...CHECKS,
  ...QUEUE,
  ...RETRIES,
  ...ANSWERS,
  ...RUNS,
  ...BOOK,
  ...CLOCKS,
  ...DATABASES,
  ...SERVERS,
  ...RECIPIENTS,
  ...RECOVERIES,
  ...LATE_ANSWERS,
  ...LOG_KEYS,
  ...AUDIT_EVIDENCE,
  ...EPHEMERAL_KEYS,
  ...PAGE_SESSIONS,
  ...FEES,
  ...PERSONS,
  ...DUAL_CONTROL,
  ...SIGN_INS,
  ...ACCESS_TOKENS,
  ...NETWORK,
];
