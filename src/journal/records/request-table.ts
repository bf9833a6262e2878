import { ACTOR_SOURCES } from '../../access/people/person';
import { writeFeeRule } from '../../operations/items/fees';
import { TYPES } from '../../platform/database/rows/binary-array';
import { commitment } from '../../platform/privacy/commitment';
import { queryAsRecorded } from '../../platform/privacy/recorded';
import { recordedAccount } from './accounts';
import { sessionDocument, tokenDocument } from './credential-documents';
import { UNSTAMPED } from './document-sql';
import { RecordedItem } from './recorded-items';
import { OpenIntent, Origin, ephemeralKeyOf, SCREENED } from './records';

/** A member of the record of a request. Dates are recorded as ISO 8601, and bytes in hex. */
export type MemberRow = RowOfAny & RowOfSome;

type RowOfSome =
  /** Of requests and refusals. The type of its `refusal` column. */
  | { refusal: keyof typeof TYPES; of: (request: Origin) => MemberValue }
  /** Of opened requests. */
  | { refusal?: undefined; of: (request: OpenIntent, parts: Parts) => MemberValue };

/** The value of a member. Null and undefined omit it. */
type MemberValue = string | number | object | null | undefined;

/** The members of an opened request's record that the request lacks. */
export interface Parts {
  /** In the order of the body. */
  items: RecordedItem[];
  /** Sum of its items. Undefined if none has an amount. */
  totalUsd: string | undefined;
  /** Sum of the expected fees. Undefined without any. */
  expectedFeeUsd: string | undefined;
  /** The salt of the body. */
  salt: Buffer;
  /** Undefined if no item names a recipient. */
  recipientsCommitment: Buffer | undefined;
}

interface RowOfAny {
  /**
   * The type of the `intent` column that repeats it. Postgres must print the value like the member, because
   * the verification of the log compares the two.
   */
  intent?: 'uuid' | 'text' | 'integer' | 'numeric' | 'date' | 'timestamptz';
  /** Its description in the API and in the OpenAPI documents. Undefined hides it from the API. */
  text?: string;
  /** Its values in the API. Defaults to those of its column. */
  values?: 'uuid' | readonly string[];
  /** Whether every record has a value. */
  always?: true;
  /** Whether its text comes from callers, so readers without `audit:pii` see it masked. */
  masked?: true;
  /**
   * The number of the change that added it, from 1. Its column is then the last of exports, and leaves of
   * earlier refusals stay unchanged.
   */
  since?: number;
}

/**
 * The members of the record of a request, one row each. The source of the document, the columns of `intent`
 * and of `refusal`, the leaves, the fields of the API and the columns of exports. See
 * docs/internals/guides/add-a-member-of-a-record.md.
 */
export const REQUEST_TABLE = {
  id: { of: ({ id }) => id, intent: 'uuid', refusal: 'uuid' },
  operation: { of: ({ operation }) => operation, intent: 'text', refusal: 'text' },
  client_id: { of: ({ caller }) => caller.clientId, intent: 'uuid', refusal: 'uuid' },
  account: { of: ({ caller }) => recordedAccount(caller.account) }, // At the upstream.
  key_id: { of: ({ caller }) => caller.keyId, refusal: 'uuid', always: true, text: 'The key that was used.' },
  ephemeral_key_id: {
    of: ephemeralKeyOf,
    intent: 'uuid',
    refusal: 'uuid',
    text: 'The ephemeral key that was used.',
  },
  // SHA-256(salt || name of the person).
  actor_commitment: { of: ({ person }) => person?.commitment, refusal: 'bytea' },
  actor_source: {
    of: ({ person }) => person?.source,
    refusal: 'text',
    values: ACTOR_SOURCES,
    text:
      'Source of the person: an access token, an ephemeral key, a page session, a personal key, or the ' +
      'unverified `X-Actor`.',
  },
  person_id: {
    of: ({ person }) => person?.id,
    intent: 'uuid',
    refusal: 'uuid',
    text: 'ID of the person. Remains after an erasure of the name.',
  },
  token: { of: tokenDocument },
  session: { of: sessionDocument },
  idempotency_key_commitment: { of: ({ key }) => key && commitment(key.salt, key.text) },
  request_id: {
    of: ({ requestId }) => requestId,
    refusal: 'text',
    always: true,
    masked: true,
    text: 'Request ID that the caller sent, or a generated one.',
  },
  traceparent: { of: ({ traceparent }) => traceparent, refusal: 'text', text: 'W3C trace context.' },
  client_address: {
    of: ({ clientAddress }) => clientAddress,
    refusal: 'text',
    always: true,
    text: 'Address of the sender.',
  },
  query: { of: ({ query }) => queryAsRecorded(query) },
  body_commitment: { of: ({ body }, { salt }) => commitment(salt, body) }, // SHA-256(salt || body as sent).
  // To the commitments to the recipients of its items, see recipients.ts.
  recipients_commitment: { of: (_request, parts) => parts.recipientsCommitment },
  received_at: { of: ({ receivedAt }) => receivedAt, refusal: 'timestamptz' }, // By the clock of the proxy.
  recorded_at: { of: () => UNSTAMPED }, // By the clock of the database.
  items: { of: (_request, { items }) => (items.length > 0 ? items : undefined) },
  item_count: { of: ({ items }) => items.length, intent: 'integer' },
  total_usd: {
    of: (_request, { totalUsd }) => totalUsd,
    intent: 'numeric',
    text: 'Sum of the items, exact. Null if no item names an amount.',
  },
  // The rate for each payout, reserved with its amount.
  expected_fee: { of: ({ feeRule }) => feeRule && writeFeeRule(feeRule) },
  expected_fee_usd: {
    of: (_request, { expectedFeeUsd }) => expectedFeeUsd,
    intent: 'numeric',
    text: 'Fees of the upstream that are reserved with it. Null if none were expected.',
  },
  reserved_on: { of: ({ reservedOn }) => reservedOn, intent: 'date' },
  coverage: {
    of: ({ coverage }) => coverage,
    values: ['checked', 'unchecked'],
    text:
      "Whether countries and networks were checked against the upstream's lists before sending. " +
      '`unchecked`: a list was not available. Null for an operation without lists.',
  },
  screening: {
    of: ({ screening }) => screening,
    values: SCREENED,
    text: 'Verdict of the screening service. Null if none was asked.',
  },
  held_for: { of: ({ heldFor }) => heldFor, intent: 'text' },
  earlier_call_id: { of: ({ earlierCallId }) => earlierCallId },
  unexplained_transaction: { of: ({ unexplainedTransaction }) => unexplainedTransaction },
  expires_at: { of: ({ expiresAt }) => expiresAt, intent: 'timestamptz' },
  caused_by: {
    of: ({ causedBy }) => causedBy,
    values: 'uuid',
    text: 'The call that caused the proxy to make this request.',
  },
  duplicate_of: {
    of: ({ duplicateOf }) => duplicateOf,
    values: 'uuid',
    text: 'The call that it duplicates on purpose.',
  },
  process: { of: ({ process }) => process, intent: 'integer' },
  table: { of: () => 'intent' },
} as const satisfies Record<string, MemberRow>;
