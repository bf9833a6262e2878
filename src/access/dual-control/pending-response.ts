import { HttpStatus } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { described, INSTANT, UUID } from '../../platform/schema/fields';
import { RequestedChange } from './pending-changes';

/** Description of the 202 response. */
export const PENDING_RESPONSE = 'The change waits for a second person: `POST /v1/changes/{id}/approve`.';

/** A change that waits for a second person. */
export class WaitingDto {
  @ApiProperty({ enum: ['pending_approval'] }) status!: 'pending_approval';
  @described(UUID, 'ID of the change.') change_id!: string;
  @described(INSTANT, 'Deadline of the approval.') expires_at!: Date;
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'The new key, shown only once. It is invalid until the change is approved. Absent for a personal ' +
      'key, which its owner claims.',
  })
  key?: string;
}

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
