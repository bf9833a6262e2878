import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { ACTOR_SOURCES } from '../../../src/access/people/person';
import {
  NewOutcome,
  NewTry,
  OpenIntent,
  RecordedEntry,
  RecordedSettlement,
  UpstreamItem,
} from '../../../src/journal/records/records';
import { readFeeRule } from '../../../src/operations/items/fees';
import { DIFFERENCES, Item } from '../../../src/operations/items/item';
import { ACCOUNTS } from '../../../src/operations/lifecycle/settlement';

/** Records with any values accepted by the proxy. */

/** Quotes, controls, half the planes of Unicode, fragments of records. No NUL, and no lone surrogates. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0')),
  fc.constantFrom(
    '',
    '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028\u2029\ufeff\u{1f4b8}',
    '\ud7ff\ue000\uffff',
    'é ≠ é',
  ),
  fc.constantFrom(
    '"recorded_at":""',
    '\\"recorded_at":""',
    '","recorded_at":"","x":"',
    '"items":[',
    '$1 & \\1',
  ),
);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
const amount = fc.bigInt(0n, 10n ** 15n).map((digits) => new Decimal(digits.toString()).div(1_000_000));
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms));
const salt = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((value) => Buffer.from(value));
const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => Buffer.from(value));
const sha256 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => Buffer.from(value));
const email = text.map((local) => `${local.replaceAll('@', '')}@example.com`);
const ms = fc.nat(100_000_000).map((value) => value / 1_000);

const item: fc.Arbitrary<Item> = fc.record({
  recipientField: fc.constantFrom('email', 'phone', 'handle', 'receiver', null),
  handleIgnored: fc.boolean(),
  email: maybe(email),
  phone: maybe(fc.nat(999_999_999).map((number) => `+254${number}`)),
  handle: maybe(text),
  amountUsd: maybe(amount),
  country: maybe(text),
  networkCode: maybe(text),
  reference: maybe(text),
  receiver: maybe(text),
  wallet: maybe(text),
  upstreamRef: maybe(text),
});

const seconds = fc.integer({ min: 0, max: 1e11 });

const token = fc.record({
  kind: fc.constant('token' as const),
  claims: fc.record({
    issuer: text,
    subject: text,
    id: text,
    scopes: fc.array(text),
    issuedAt: seconds,
    expiresAt: seconds,
    authTime: maybe(seconds),
    jkt: maybe(text),
    act: fc.constant(null),
  }),
  unverified: fc.record({ issuer: text, clientId: text, person: text }),
  source: text,
  validUntil: fc.constant(Infinity),
});

const session = fc.record({
  kind: fc.constant('session' as const),
  id: fc.uuid(),
  signedInAt: maybe(instant),
  validUntil: fc.constant(Infinity),
});

export const anyIntent: fc.Arbitrary<OpenIntent> = fc.record({
  id: fc.uuid(),
  requestId: text,
  traceparent: fc.option(text, { nil: undefined }),
  clientAddress: text,
  receivedAt: instant,
  caller: fc.record({
    account: fc.constantFrom('main', 'kenya'),
    clientId: fc.uuid(),
    keyId: fc.uuid(),
    rights: fc.constant('1'),
    credential: fc.oneof(
      fc.constant({ kind: 'key' as const }),
      fc.record({
        kind: fc.constant('ephemeral' as const),
        id: fc.uuid(),
        validUntil: fc.constant(0),
        recipients: fc.constant(null),
      }),
      session,
      token,
    ),
  }),
  person: maybe(
    fc.record({
      id: fc.uuid(),
      sha256,
      commitment: sha256,
      source: fc.constantFrom(...ACTOR_SOURCES),
      acting: fc.option(fc.record({ id: fc.uuid(), commitment: sha256 }), { nil: undefined }),
    }),
  ),
  operation: text,
  query: maybe(fc.constantFrom('', 'a=b', 'email=ada%40example.com&x=%22recorded_at%22:%22%22')),
  body: maybe(bytes),
  items: fc.array(item, { maxLength: 4 }),
  coverage: fc.constantFrom('checked', 'unchecked', null),
  screening: fc.constantFrom('allow', 'review', null),
  causedBy: fc.option(fc.uuid(), { nil: undefined }),
  process: fc.nat(2_147_483_647),
  key: maybe(fc.record({ text, claimed: text, salt, contentHash: maybe(bytes) })),
  heldFor: fc.constantFrom('over_threshold', 'seen_across_clients', null),
  expiresAt: maybe(instant),
  reservedOn: fc.constantFrom('2026-11-21', '2024-02-29', null),
  feeRule: maybe(fc.constantFrom('1.5%', '0%+0.05', '2.25%+1').map((text) => readFeeRule(text)!)),
  duplicateOf: maybe(fc.uuid()),
  earlierCallId: maybe(fc.uuid()),
  unexplainedTransaction: maybe(text),
});

const transaction: fc.Arbitrary<UpstreamItem> = fc.record({
  position: maybe(fc.nat(20)),
  upstreamRef: maybe(text),
  upstreamId: maybe(text),
  batchRef: maybe(text),
  status: maybe(text),
  amountUsd: maybe(amount),
  feeUsd: maybe(amount),
  payoutStatus: maybe(text),
  payoutError: maybe(text),
  differs: fc.option(fc.uniqueArray(fc.constantFrom(...DIFFERENCES), { minLength: 1 }), { nil: undefined }),
});

const attempt: fc.Arbitrary<NewTry> = fc.record({
  startedAt: instant,
  ms,
  phase: fc.constantFrom('queued', 'connecting', 'waiting', 'answering', 'answered'),
  status: maybe(fc.integer({ min: 100, max: 599 })),
  failure: maybe(fc.constantFrom('timeout', 'reset')),
});

export const anyOutcome: fc.Arbitrary<NewOutcome> = fc.record({
  intentId: fc.uuid(),
  kind: fc.constantFrom('succeeded', 'rejected', 'not_sent', 'unknown'),
  failure: maybe(text),
  upstreamStatus: maybe(fc.integer({ min: 100, max: 599 })),
  contentType: maybe(text),
  retryAfter: maybe(fc.nat(2_147_483_647)),
  body: maybe(bytes),
  items: fc.array(transaction, { maxLength: 4 }),
  entries: fc.option(fc.array(fc.constantFrom('paid', 'failed', 'in_doubt'), { maxLength: 4 }), {
    nil: undefined,
  }),
  countedUsd: maybe(amount.map((usd) => usd.toFixed())),
  sentAt: instant,
  answeredAt: instant,
  upstreamMs: ms,
  answerOf: maybe(fc.uuid()),
  attempts: fc.nat(10),
  tries: fc.array(attempt, { maxLength: 3 }),
  undelivered: fc.boolean(),
});

const entry: fc.Arbitrary<RecordedEntry> = fc.record({
  position: fc.nat(20),
  entry: fc.constantFrom('paid', 'failed', 'not_executed', 'fee'),
  from: fc.constantFrom(...ACCOUNTS),
  to: fc.constantFrom(...ACCOUNTS),
  amountUsd: maybe(amount),
  transaction: fc.option(
    fc.record({
      upstream_ref: maybe(text),
      upstream_id: maybe(text),
      batch_ref: maybe(text),
      at: maybe(instant.map((date) => date.toISOString())),
      status: maybe(text),
    }),
    { nil: undefined },
  ),
});

export const anySettlement: fc.Arbitrary<RecordedSettlement> = fc.record({
  id: fc.uuid(),
  intentId: fc.uuid(),
  number: fc.nat(20),
  supersedes: fc.uuid(),
  source: fc.constantFrom('answer', 'resolver', 'person'),
  reason: text,
  by: maybe(fc.record({ clientId: fc.uuid(), keyId: fc.uuid(), actor: maybe(text) })),
  entries: fc.array(entry, { maxLength: 4 }),
  resolution: fc.constantFrom('confirmed', 'not_executed'),
  countedUsd: amount,
  evidence: fc.record({
    reads: fc.array(fc.uuid(), { maxLength: 2 }),
    calls: fc.array(fc.uuid(), { maxLength: 2 }),
  }),
  undelivered: fc.boolean(),
});
