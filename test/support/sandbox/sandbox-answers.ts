import supertest from 'supertest';
import type { ControlAnswers, ControlErrorBody } from '../../../src/sandbox/control/answers';
import type { ErrorEnvelope, NOT_FOUND, TransactionErrorEnvelope } from '../../../src/sandbox/http/envelope';
import type { SandboxOperations } from '../../../src/sandbox/http/routes';
import type { Agent, Answer, TypedRequest, Method } from '../http/request';

/** A value after a round trip through JSON. */
type Json<Value> = Value extends Date
  ? string
  : Value extends object
    ? { [Name in keyof Value]: Json<Value[Name]> }
    : Value;

type FoundData<Data> = typeof NOT_FOUND extends Data ? (Data extends typeof NOT_FOUND ? never : Data) : Data;

/** Type of `data` in an operation's successful answer. */
export type DataOf<Line extends keyof SandboxOperations> = Json<
  FoundData<Awaited<ReturnType<SandboxOperations[Line]>>>
>;

interface BodiesOf<Line extends keyof SandboxOperations> {
  200: { status: 'success'; data: DataOf<Line> };
  default: ErrorEnvelope & Partial<Omit<TransactionErrorEnvelope, 'status'>>;
}

type PathIn<Line> = Line extends `${string} ${infer Path}` ? Path : never;

type InterfaceBodies = {
  [Path in PathIn<keyof SandboxOperations> as `/api/v0.1${Path}`]: {
    [Verb in 'get' | 'post']: `${Uppercase<Verb>} ${Path}` extends infer Line extends keyof SandboxOperations
      ? BodiesOf<Line>
      : never;
  };
};

type ControlBodies = {
  [Path in keyof ControlAnswers as `/_sandbox${Path}`]: {
    [Verb in keyof ControlAnswers[Path]]: {
      200: Json<ControlAnswers[Path][Verb]>;
      201: Json<ControlAnswers[Path][Verb]>;
      default: ControlErrorBody;
    };
  };
};

/** Type of the control interface's answers. */
export type ControlBody<Path extends keyof ControlAnswers, Verb extends keyof ControlAnswers[Path]> = Json<
  ControlAnswers[Path][Verb]
>;

/** Returns `data` of the sandbox's answer to a request through the proxy, which describes envelopes only. */
export function dataIn<Line extends keyof SandboxOperations>(
  _operation: Line,
  { body }: Answer<{ data?: unknown }>,
) {
  return body.data as DataOf<Line>;
}

export type SandboxBodies = InterfaceBodies & ControlBodies;

/** A sandbox request by its method and path. */
export type SandboxRequest<Verb extends Method, Path extends string> = TypedRequest<
  SandboxBodies,
  Verb,
  Path
>;

/** supertest with responses typed by the sandbox's functions. */
export function askSandbox(url: string): Agent<SandboxBodies> {
  return supertest(url) as unknown as Agent<SandboxBodies>;
}
