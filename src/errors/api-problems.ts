import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ProblemCode, PROBLEMS } from './problem';
import { ErrorEnvelope, ProblemDetails } from './envelope.dto';

const WITH_ANY_KEY: ProblemCode[] = [
  'missing_key',
  'invalid_key',
  'scope_missing',
  'internal_error',
  'database_unavailable',
];

/** The errors of a `/v1` route: those of every route with a key, and its own. */
export const ApiProblems = (...own: ProblemCode[]) =>
  applyDecorators(
    ApiExtraModels(ProblemDetails),
    ...byStatus([...own, ...WITH_ANY_KEY]).map(({ status, description }) =>
      ApiResponse({
        status,
        description,
        content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDetails) } } },
      }),
    ),
  );

/** The errors of every operation of the interface, in its envelope. */
export const ApiEnvelopeProblems = () =>
  applyDecorators(
    ...byStatus([
      ...(['invalid_request', ...WITH_ANY_KEY, 'upstream_auth', 'upstream_busy', 'upstream_unreachable'] as const),
      'outcome_unknown',
    ]).map(({ status, description }) => ApiResponse({ status, type: ErrorEnvelope, description })),
    ApiResponse({
      status: 504,
      type: ErrorEnvelope,
      description: `\`outcome_unknown\`, after a time-out: ${PROBLEMS.outcome_unknown.text}`,
    }),
  );

/** One entry per status, with all its codes. */
function byStatus(codes: ProblemCode[]): { status: number; description: string }[] {
  const texts = new Map<number, string[]>();
  for (const code of codes) {
    const { status, text } = PROBLEMS[code];
    texts.set(status, [...(texts.get(status) ?? []), `\`${code}\`: ${text}`]);
  }
  return [...texts].map(([status, lines]) => ({ status, description: lines.join('\n\n') }));
}
