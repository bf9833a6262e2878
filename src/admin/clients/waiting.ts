import { HttpStatus } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { ClientError } from '../../access/clients/client-error';
import { RequestedChange } from '../../access/dual-control/dual-control.service';
import { Problem } from '../../platform/errors/problem';
import { WaitingDto } from './changes.dto';

/** The description of a 202 response. */
export const WAITS = 'It waits for a second person: `POST /v1/changes/{id}/approve`.';

/** Answers 202 for a pending change. */
export function waiting({ changeId, expiresAt, key }: RequestedChange, reply: FastifyReply): WaitingDto {
  void reply.status(HttpStatus.ACCEPTED);
  return {
    status: 'pending_approval',
    change_id: changeId,
    expires_at: expiresAt,
    ...(key !== undefined && { key }),
  };
}

/** Translates client errors for the API, because their texts name CLI commands. */
export function asProblem(error: unknown): never {
  if (error instanceof ClientError)
    throw new Problem(error.code ?? 'invalid_request', { cause: error, faults: error.faults });
  throw error;
}
