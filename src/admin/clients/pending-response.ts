import { HttpStatus } from '@nestjs/common';
import { FastifyReply } from 'fastify';
import { ClientError } from '../../access/clients/client-error';
import { RequestedChange } from '../../access/dual-control/pending-changes';
import { Problem } from '../../platform/errors/problem';
import { WaitingDto } from './changes.dto';

/** Description of the 202 response. */
export const PENDING_RESPONSE = 'The change waits for a second person: `POST /v1/changes/{id}/approve`.';

/** Sets the status 202, and returns the pending change. */
export function pendingResponse(
  { changeId, expiresAt, key }: RequestedChange,
  reply: FastifyReply,
): WaitingDto {
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
