import type { components, paths } from './generated/schema.ts';

type Schemas = components['schemas'];

/**
 * An amount of money: a decimal string such as `'12.50'`. A number works too, if it is exactly the decimal
 * you mean.
 */
export type Amount = string | number;

/**
 * The code of an error, such as `cap_exceeded`. A newer proxy may have codes that this version does not list.
 */
export type ErrorCode = Schemas['ErrorEnvelope']['code'];

/** What your program does after an error. Every error of the proxy names exactly one action. */
export type Action = Schemas['ErrorEnvelope']['action'];

/** One fault of a request: a JSON pointer to the field, and what to send instead. */
export type Fault = Schemas['FaultDto'];

/** A call as the proxy has it on record. */
export type CallRecord = Schemas['CallRecord'];

/** One page of calls. */
export type CallPage = Schemas['CallPage'];

/** A call with its request and its answer. */
export type FullCallRecord = Schemas['FullCallRecord'];

/** One payout of a call, with its `state` and what you may do `next`. */
export type PayoutItem = Schemas['RecordItem'];

/** A payout and its ledger. */
export type PayoutRecord = Schemas['PayoutRecord'];

/** What would happen if a request was sent now. */
export type Preview = Schemas['Preview'];

/** The limits of your client, and what is left of them. */
export type Limits = Schemas['LimitsDto'];

/** The records of a call with proofs, to be verified offline. */
export type Receipt = Schemas['Receipt'];

/** What an ephemeral key is to be good for. */
export type NewEphemeralKey = Schemas['NewEphemeralKeyDto'];

/** An ephemeral key with its secret. */
export type IssuedEphemeralKey = Schemas['IssuedEphemeralKeyDto'];

/** An ephemeral key without its secret. */
export type EphemeralKey = Schemas['EphemeralKeyDto'];

/** One page of ephemeral keys. */
export type EphemeralKeyPage = Schemas['EphemeralKeyPage'];

/** The session of a person who has signed in to a page. */
export type PageSession = Schemas['PageSessionRecord'];

/** A session of a page that has ended. */
export type EndedPageSession = Schemas['SignedOutRecord'];

/** The operations that pay, create or remove something. Each has a preview. */
export type PaymentOperation = {
  [Path in keyof paths]: Path extends `/v1/preview${infer Rest}` ? `POST ${Rest}` : never;
}[keyof paths];

type PathOf<Operation extends string> = Operation extends `${'GET' | 'POST'} ${infer Path}`
  ? `/api/v0.1${Path}`
  : never;

type MethodOf<Operation extends string> = Operation extends `GET ${string}` ? 'get' : 'post';

/** The operations of the provider's interface that only read. */
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

/** The body of an operation, as its documentation describes it. */
export type BodyOf<Operation extends PaymentOperation> = WithAmounts<BodyIn<RouteOf<Operation>>>;

/** A member that is left out where the operation has none. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };

/** What a read takes: its query, its body, and a signal that ends it. */
export type InputOf<Operation extends ReadOperation> = { signal?: AbortSignal | undefined } & Member<
  'query',
  QueryIn<RouteOf<Operation>>
> &
  Member<'body', WithAmounts<BodyIn<RouteOf<Operation>>>>;

type JsonIn<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** The provider's answer to an operation. */
export type AnswerOf<Operation extends PaymentOperation | ReadOperation> =
  RouteOf<Operation> extends { responses: { 200: infer Response } } ? JsonIn<Response> : never;
