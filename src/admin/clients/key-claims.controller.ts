import { Body, Controller, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyRequest } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { changedBy } from '../../access/auth/changed-by';
import { ClaimsService } from '../../access/governance/claims.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ClaimedKeyDto } from './client-answers.dto';
import { ClaimKeyDto } from './changes.dto';
import { ApiSummary } from '../../platform/schema/routes';

/** Gives people the keys that two others agreed to. */
@ApiTags('Clients')
@Controller('v1/key-claims')
export class KeyClaimsController {
  constructor(private readonly claims: ClaimsService) {}

  @Post()
  @Allow('everyone')
  @RouteConfig({ needsNoKey: true })
  @ApiSummary(
    'Claim your key',
    'Makes the secret of a personal key that was approved, once. Its person sends `key_id` in a session of the OpenID ' +
      'provider. Without one, send the claim code that the approver was shown: the key then decides about nothing that its ' +
      'approver requests. A key never decides about what its requester requests.',
  )
  @ApiResponse({ status: 201, type: ClaimedKeyDto, description: 'The key, which is shown only once.' })
  @ApiKeyProblems('invalid_request', 'claim_not_found')
  async claimKey(
    @Req() { call }: FastifyRequest,
    @Body() { code, key_id: keyId }: ClaimKeyDto,
  ): Promise<ClaimedKeyDto> {
    const who = { person: call.caller?.identity?.name ?? null, isSignedIn: call.signIn !== undefined };
    const by = changedBy(call, undefined);
    const claimed = await (code === undefined
      ? this.claims.bySignIn(keyId ?? '', who, by)
      : this.claims.byCode(code, who, by));
    return {
      id: claimed.id,
      client: claimed.client,
      key: claimed.key,
      person: claimed.person,
      expires_at: claimed.expiresAt,
      requested_by: claimed.requestedBy,
      approved_by: claimed.approvedBy,
      claimed_by: claimed.claimedBy,
    };
  }
}
