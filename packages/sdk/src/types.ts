import type { components, paths } from './generated/schema.ts';

type Schemas = components['schemas'];

/** An amount: a decimal string such as `'12.50'`, or a number that is exactly this decimal. */
export type Amount = string | number;

/** The code of an error, such as `cap_exceeded`. A newer proxy may have more codes. */
export type ErrorCode = Schemas['ErrorEnvelope']['code'];

/** The next step of your program after an error. Every error of the proxy has exactly one. */
export type Action = Schemas['ErrorEnvelope']['action'];

/** One fault of a request: a JSON pointer to the field, and the values that it allows. */
export type Fault = Schemas['FaultDto'];

/** The record of a call. */
export type CallRecord = Schemas['CallRecord'];

/** One page of calls. */
export type CallPage = Schemas['CallPage'];

/** The record of a call with its request and its answer. */
export type FullCallRecord = Schemas['FullCallRecord'];

/** One payout of a call, with its `state` and your `next` step. */
export type PayoutItem = Schemas['RecordItem'];

/** A payout and its ledger. */
export type PayoutRecord = Schemas['PayoutRecord'];

/** The outcome that a request would have now. */
export type Preview = Schemas['Preview'];

/** The limits of your client, and the rest of each. */
export type Limits = Schemas['LimitsDto'];

/** The records of a call with proofs, for offline verification. */
export type Receipt = Schemas['Receipt'];

/** Person, operations, limits and lifetime of a new ephemeral key. */
export type NewEphemeralKey = Schemas['NewEphemeralKeyDto'];

/** An ephemeral key with its secret. */
export type IssuedEphemeralKey = Schemas['IssuedEphemeralKeyDto'];

/** An ephemeral key without its secret. */
export type EphemeralKey = Schemas['EphemeralKeyDto'];

/** One page of ephemeral keys. */
export type EphemeralKeyPage = Schemas['EphemeralKeyPage'];

/** The page session of a signed-in person. */
export type PageSession = Schemas['PageSessionRecord'];

/** The end of a page session. */
export type EndedPageSession = Schemas['SignedOutRecord'];

/** An operation that pays, creates or removes something. Each has a preview. */
export type PaymentOperation = {
  [Path in keyof paths]: Path extends `/v1/preview${infer Rest}` ? `POST ${Rest}` : never;
}[keyof paths];

type PathOf<Operation extends string> = Operation extends `${'GET' | 'POST'} ${infer Path}`
  ? `/api/v0.1${Path}`
  : never;

type MethodOf<Operation extends string> = Operation extends `GET ${string}` ? 'get' : 'post';

/** An operation of the provider's interface that only reads. */
export type ReadOperation = Exclude<
  {
    [Path in keyof paths]: Path extends `/api/v0.1${infer Rest}`
      ?
          | (paths[Path] extends { get: object } ? `GET ${Rest}` : never)
          | (paths[Path] extends { post: object } ? `POST ${Rest}` : never)
      : never;
  }[keyof paths],
  PaymentOperation
>;

type RouteOf<Operation extends string> =
  PathOf<Operation> extends infer Path extends keyof paths
    ? MethodOf<Operation> extends infer Method extends keyof paths[Path]
      ? paths[Path][Method]
      : never
    : never;

type BodyIn<Route> = Route extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : Route extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? Body | undefined
    : undefined;

type QueryIn<Route> = Route extends { parameters: { query: infer Query } }
  ? Query
  : Route extends { parameters: { query?: infer Query } }
    ? Query | undefined
    : undefined;

/** Accepts a decimal string wherever the interface takes a number. */
type WithAmounts<Body> = Body extends number
  ? Amount
  : Body extends object
    ? { [Name in keyof Body]: WithAmounts<Body[Name]> }
    : Body;

/** The body of an operation, with decimal strings for amounts. */
export type BodyOf<Operation extends PaymentOperation> = WithAmounts<BodyIn<RouteOf<Operation>>>;

/** A member, or nothing for operations without it. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };

/** The input of a read: query, body, and a signal that ends it. */
export type InputOf<Operation extends ReadOperation> = { signal?: AbortSignal | undefined } & Member<
  'query',
  QueryIn<RouteOf<Operation>>
> &
  Member<'body', WithAmounts<BodyIn<RouteOf<Operation>>>>;

type JsonIn<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** The provider's answer to an operation. */
export type AnswerOf<Operation extends PaymentOperation | ReadOperation> =
  RouteOf<Operation> extends { responses: { 200: infer Response } } ? JsonIn<Response> : never;
