import { Body, Controller, Delete, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { ClientsService } from '../../access/clients/clients.service';
import { ClaimsService } from '../../access/dual-control/claims.service';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { isRequestedChange } from '../../access/dual-control/pending-changes';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiClientName, ApiId, ApiSummary } from '../../platform/schema/routes';
import { asProblem } from './as-problem';
import { ClaimKeyDto } from './changes.dto';
import { ClaimedKeyDto, KeysDto, NewKeyDto, NewSignInDto, RevokedKeyDto } from './client-answers.dto';
import { AllowSignInDto, IssueKeyDto, RevocationDto } from './clients.dto';
import { expiryOf } from './expiry';

/** Manages the API keys of a client. */
@ApiTags('Clients')
@Controller('v1/clients/:name/keys')
export class KeysController {
  constructor(
    private readonly clients: ClientsService,
    private readonly dualControl: DualControlService,
    private readonly ephemeral: EphemeralKeysService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary("List a client's keys")
  @ApiClientName()
  @ApiResponse({ status: 200, type: KeysDto, description: 'All keys, including revoked and expired ones.' })
  @ApiKeyProblems('client_not_found')
  async listKeys(@Param('name') name: string): Promise<KeysDto> {
    const { id } = await this.clients.find(name).catch(asProblem);
    const [keys, active] = await Promise.all([this.clients.listKeys(name), this.ephemeral.countActive(id)]);
    return { keys, active_ephemeral_keys: active };
  }

  @Post()
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Issue another key for a client',
    'To rotate a key: issue a new one, let the app use it, then revoke the old one.',
  )
  @ApiClientName()
  @ApiBody({ type: IssueKeyDto, required: false })
  @ApiResponse({ status: 201, type: NewKeyDto, description: 'The key, shown only once.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    ...(['invalid_request', 'client_not_found', 'public_client', 'incompatible_scopes'] as const),
    ...(['personal_key_required', 'step_up_required'] as const),
  )
  async issueKey(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() { expires_at, person, reason }: IssueKeyDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewKeyDto | WaitingDto> {
    const expiresAt = expiryOf(expires_at);
    const by = changeAuthorOf(call, reason);
    const issued = await this.dualControl.issueKey(name, { expiresAt, person }, by).catch(asProblem);
    if (isRequestedChange(issued)) return pendingResponse(issued, reply);
    return {
      id: issued.id,
      client: name,
      key: issued.key,
      person: person ?? null,
      expires_at: expiresAt ?? null,
    };
  }

  @Delete(':id')
  @Allow('admin')
  @ApiSummary(
    'Revoke a key',
    'Requests with the key are rejected immediately, on every instance. A second revocation changes nothing.',
  )
  @ApiClientName()
  @ApiId('ID of the key.')
  @ApiResponse({ status: 200, type: RevokedKeyDto, description: 'Time of the revocation.' })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'key_not_found')
  async revokeKey(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Param('id') id: string,
    @Query() { reason }: RevocationDto,
  ): Promise<RevokedKeyDto> {
    await this.clients.find(name).catch(asProblem);
    return this.clients.revokeKey(id, name, changeAuthorOf(call, reason)).catch(asProblem);
  }
}

/** Lets people claim their approved keys. */
@ApiTags('Clients')
@Controller('v1/key-claims')
export class KeyClaimsController {
  constructor(private readonly claims: ClaimsService) {}

  @Post()
  @Allow('everyone')
  @RouteConfig({ needsNoKey: true })
  @ApiSummary(
    'Claim your key',
    'Creates the secret of an approved personal key, once. Its owner sends `key_id` in a session of the ' +
      'OpenID provider. Without a session, send the claim code from the approver. Then the key cannot ' +
      "decide about its approver's requests. A key never decides about its requester's requests.",
  )
  @ApiResponse({ status: 201, type: ClaimedKeyDto, description: 'The key, shown only once.' })
  @ApiKeyProblems('invalid_request', 'claim_not_found')
  async claimKey(
    @Req() { call }: FastifyRequest,
    @Body() { code, key_id: keyId }: ClaimKeyDto,
  ): Promise<ClaimedKeyDto> {
    const claimant = { person: call.caller?.identity?.name ?? null, isSignedIn: call.signIn !== undefined };
    const by = changeAuthorOf(call, undefined);
    const claimed = await (code === undefined
      ? this.claims.bySignIn(keyId ?? '', claimant, by)
      : this.claims.byCode(code, claimant, by));
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

/** Manages sign-ins at the OpenID provider. */
@ApiTags('Clients')
@Controller('v1/clients/:name/sign-ins')
export class SignInsController {
  constructor(
    private readonly dualControl: DualControlService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  @Post()
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Let a person sign in as a client',
    'The person signs in at the OpenID provider and has the scopes of the client. To end the sign-in, ' +
      "revoke the person's key: `DELETE /v1/clients/{name}/keys/{id}`.",
  )
  @ApiClientName()
  @ApiResponse({ status: 201, type: NewSignInDto, description: 'The person may sign in.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems(
    ...(['invalid_request', 'client_not_found', 'incompatible_scopes', 'personal_key_required'] as const),
    ...(['public_client', 'sign_in_exists', 'no_provider', 'step_up_required'] as const),
  )
  async allowSignIn(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() { person, subject, expires_at, reason }: AllowSignInDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewSignInDto | WaitingDto> {
    const issuer = this.settings.openIdProvider?.issuer;
    if (issuer === undefined) throw new Problem('no_provider');
    const expiresAt = expiryOf(expires_at);
    const by = changeAuthorOf(call, reason);
    const allowed = await this.dualControl
      .allowSignIn(name, { issuer, subject, person, expiresAt }, by)
      .catch(asProblem);
    if (isRequestedChange(allowed)) return pendingResponse(allowed, reply);
    return { id: allowed.id, client: name, person, issuer, subject, expires_at: expiresAt ?? null };
  }
}
