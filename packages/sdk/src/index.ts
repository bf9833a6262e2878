export { type ClientOptions, type PaymentOptions, PayoutProxy } from './client.ts';
export type { StoredPayment } from './attempts.ts';
export { Calls, type CallSearch } from './calls.ts';
export type { Credential, Credentials } from './sessions/credential.ts';
export { EphemeralKeys } from './sessions/ephemeral-keys.ts';
export * from './errors.ts';
export { type EventOptions, type HeadersLike, type VerifiedEvent, verifyEvent } from './events.ts';
export { type Page, Pages } from './transport/pages.ts';
export type { ReadOptions } from './transport/reader.ts';
export { Payment, type WaitOptions } from './payment.ts';
export { type VerifiedReceipt, type VerifiedRecord, verifyReceipt } from './proofs/receipt.ts';
export type {
  HeldResult,
  QueuedResult,
  InProgressResult,
  NotSentResult,
  PartialResult,
  PaymentResult,
  RejectedResult,
  SucceededResult,
  UnknownResult,
} from './results.ts';
export { Session, type SessionOptions } from './sessions/session.ts';
export type { Authorize, RequestToAuthorize } from './transport/transport.ts';
export type {
  Action,
  Amount,
  AnswerOf,
  BodyOf,
  CallRecord,
  EphemeralKey,
  ErrorCode,
  Fault,
  FullCallRecord,
  InputOf,
  IssuedEphemeralKey,
  Limits,
  NewEphemeralKey,
  PageSession,
  PaymentOperation,
  PayoutItem,
  PayoutRecord,
  Preview,
  ReadOperation,
  Receipt,
} from './types.ts';
export type { Retries } from './transport/waiting.ts';
