import { TYPES } from '../platform/database/binary-array';
import { ItemCommitments } from './item-document';
import { OpenIntent, Origin } from './records';

/** A member of the record of a request. Dates are recorded as ISO 8601, and bytes in hex. */
export type MemberRow = RowOfAny & RowOfSome;

type RowOfSome =
  /** Of requests and refusals: the type of its column of `refusal`. */
  | { refusal: keyof typeof TYPES; of: (request: Origin) => MemberValue }
  /** Of opened requests. */
  | { refusal?: undefined; of: (request: OpenIntent, parts: Parts) => MemberValue };

/** The value of a member. A member without a value is left out. */
type MemberValue = string | number | object | null | undefined;

/** What the record of an opened request has beside the request. */
export interface Parts {
  /** In the order of the body. */
  items: ItemCommitments[];
  /** The sum of its items. Undefined if none states an amount. */
  totalUsd: string | undefined;
  /** The sum of the fees that are expected. Undefined if none are. */
  expectedFeeUsd: string | undefined;
  /** The salt of the body. */
  salt: Buffer;
}

interface RowOfAny {
  /**
   * The type of the column of `intent` that repeats it. The text of such a value in Postgres is that of the member, because the
   * verification of the log compares the two.
   */
  intent?: 'uuid' | 'text' | 'integer' | 'numeric' | 'date' | 'timestamptz';
  /** Its description in the API and in the OpenAPI documents. Default: the API does not pass it through. */
  text?: string;
  /** Its values in the API. Default: those of its column. */
  values?: 'uuid' | readonly string[];
  /** Whether every record has a value. */
  always?: true;
  /** Whether callers write it, so that readers without `audit:pii` see it masked. */
  masked?: true;
  /**
   * The number of the change that added it, counted from 1. Its column is the last of exports, and leaves of earlier refusals stay the
   * same.
   */
  since?: number;
}
