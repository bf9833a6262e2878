import original from 'supertest';
import type { AnyEnvelope, ErrorEnvelope, operations, paths, ProblemDetails } from './api';
import { Agent, TypedRequest, Method, METHODS, Request } from './request';
import { expectDescribed } from './response-schemas';

type JsonType = 'application/json' | 'application/problem+json';

type JsonOf<Response> = Response extends { content: infer Content }
  ? keyof Content & JsonType extends never
    ? unknown
    : Content[keyof Content & JsonType]
  : never;

type BodiesIn<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses]: JsonOf<Responses[Status]> }
  : never;

/** All operations of the upstream's interface share their envelopes. */
type EnvelopeBodies = Omit<BodiesIn<operations['sendAirtime']>, 200> & {
  200: AnyEnvelope & { data?: unknown };
  default: ErrorEnvelope;
};

/** All previews share their bodies. */
type PreviewBodies = BodiesIn<paths['/v1/preview/send']['post']> & { default: ProblemDetails };

/** The bodies of the API documents. */
export type Api = {
  [Path in keyof paths as Path extends `/api/${string}` | `/v1/preview/${string}` ? never : Path]: {
    [Verb in keyof paths[Path] & Method]: BodiesIn<paths[Path][Verb]> & { default: ProblemDetails };
  };
} & { '/api/v0.1/**': Record<Method, EnvelopeBodies>; '/v1/preview/**': Record<Method, PreviewBodies> };

/** A request to a route of the API documents. */
export type TypedApiRequest<Verb extends Method, Path extends string> = TypedRequest<Api, Verb, Path>;

/** The body of a route's answer. */
export type BodyOf<Verb extends Method, Path extends string, Status extends number = 200> =
  TypedApiRequest<Verb, Path> extends Request<infer Bodies> ? Bodies[Status & keyof Bodies] : never;

/** supertest with responses typed by the API documents and checked against them. */
export default function supertest(url: string): Agent<Api> {
  const agent = original(url);
  const ask = (method: Method) => (path: string) =>
    agent[method](path).expect((answer) => expectDescribed(method, path, answer));
  return Object.fromEntries(METHODS.map((method) => [method, ask(method)])) as unknown as Agent<Api>;
}
