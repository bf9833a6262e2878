import type supertest from 'supertest';

export const METHODS = ['get', 'post', 'patch', 'delete', 'put', 'head', 'options'] as const;
export type Method = (typeof METHODS)[number];

/** A response as supertest reads it, with the type of its body. */
export interface Answer<Body = unknown> extends Omit<supertest.Response, 'body' | 'headers' | 'header'> {
  body: Body;
  headers: Record<string, string>;
}

/** Replaces supertest's parser of a response body. */
export type Parser<Body> = (
  response: supertest.Response,
  done: (error: Error | null, body: Body) => void,
) => void;

/** A request with a body typed by the expected status. `Bodies` maps statuses to bodies. */
export interface Request<Bodies = { default: unknown }, Body = AnyOf<Bodies[keyof Bodies]>> extends Promise<
  Answer<Body>
> {
  set(name: string, value: string): this;
  set(headers: Record<string, string>): this;
  query(parameters: object): this;
  send(body?: string | object): this;
  serialize(serializer: (body: unknown) => string): this;
  type(contentType: string): this;
  buffer(wanted?: boolean): this;
  redirects(most: number): this;
  parse<Parsed>(parser: Parser<Parsed>): Request<{ default: Parsed }>;
  on(event: string, listener: (...given: never[]) => void): this;
  abort(): this;
  expect<Status extends number>(status: Status): Request<Bodies, BodyFor<Bodies, Status>>;
  expect<Expected extends object>(status: number, body: Expected): Request<Bodies, Expected>;
  expect(header: string, value: string | RegExp): this;
  expect(check: (answer: Answer) => unknown): this;
}

/**
 * supertest with the response bodies of an API, by path, method and status. Paths have their parameters in
 * braces. A trailing `/**` matches all paths below. Unknown paths have unknown bodies.
 */
export type Agent<Api> = {
  [Verb in Method]: <const Path extends string>(path: Path) => TypedRequest<Api, Verb, Path>;
};

/** A request to a route of an API. */
export type TypedRequest<Api, Verb extends Method, Path extends string> = Request<BodiesOf<Api, Verb, Path>>;

/** A union of bodies in which fields missing from some are optional. */
type AnyOf<Body, Name extends PropertyKey = NameIn<Body>> = Body extends object
  ? Body & { [Missing in Exclude<Name, keyof Body>]?: undefined }
  : Body;

type NameIn<Body> = Body extends object ? keyof Body : never;

type BodyFor<Bodies, Status extends number> = number extends Status
  ? AnyOf<Bodies[keyof Bodies]>
  : Status extends keyof Bodies
    ? AnyOf<Bodies[Status]>
    : 'default' extends keyof Bodies
      ? Bodies['default']
      : unknown;

type BodiesOf<Api, Verb extends Method, Path extends string> = [RouteOf<keyof Api, Path>] extends [never]
  ? { default: unknown }
  : Api[RouteOf<keyof Api, Path>] extends Record<Verb, infer Bodies>
    ? Bodies
    : { default: unknown };

/** The route of a path. */
type RouteOf<Routes, Path extends string> = Path extends string
  ? Routes extends string
    ? Matches<WithoutQuery<Path>, Routes> extends true
      ? Routes
      : never
    : never
  : never;

type WithoutQuery<Path> = Path extends `${infer Before}?${string}` ? Before : Path;

type Matches<Path, Route> = Route extends `${infer Prefix}/**`
  ? Path extends `${Prefix}${string}`
    ? true
    : false
  : Matching<Path, Route>;

type Matching<Path, Route> = Route extends `${infer Segment}/${infer Rest}`
  ? Path extends `${infer Given}/${infer GivenRest}`
    ? Fits<Given, Segment> extends true
      ? Matching<GivenRest, Rest>
      : false
    : false
  : Path extends `${string}/${string}`
    ? false
    : Fits<Path, Route>;

type Fits<Given, Segment> = Segment extends `{${string}}` ? true : Given extends Segment ? true : false;
