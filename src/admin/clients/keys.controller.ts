import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { StepUp } from '../../access/auth/step-up';
import { ClientsService } from '../../access/clients/clients.service';
import { EphemeralKeysService } from '../../access/ephemeral/ephemeral-keys.service';
import { GovernanceService, isWaiting } from '../../access/governance/governance.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { asProblem } from './as-problem';
import { changedBy } from '../../access/auth/changed-by';
import { WaitingDto } from './changes.dto';
import { KeysDto, NewKeyDto, RevokedKeyDto } from './client-answers.dto';
import { IssueKeyDto, RevocationDto } from './clients.dto';
import { expiryOf } from './expiry';
import { waiting, WAITS } from './waiting';
import { ApiClientName, ApiId, ApiSummary } from '../../platform/schema/routes';

/** Manages the API keys of a client. */
@ApiTags('Clients')
@Controller('v1/clients/:name/keys')
export class KeysController {
  constructor(
    private readonly clients: ClientsService,
    private readonly governance: GovernanceService,
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
  @ApiResponse({ status: 201, type: NewKeyDto, description: 'The key, which is shown only once.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
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
    const by = changedBy(call, reason);
    const issued = await this.governance.issueKey(name, { expiresAt, person }, by).catch(asProblem);
    if (isWaiting(issued)) return waiting(issued, reply);
    return { id: issued.id, client: name, key: issued.key, person: person ?? null, expires_at: expiresAt ?? null };
  }

  @Delete(':id')
  @Allow('admin')
  @ApiSummary(
    'Revoke a key',
    'Requests with the key are rejected immediately, on every instance. Revoking it again changes nothing.',
  )
  @ApiClientName()
  @ApiId("The key's ID.")
  @ApiResponse({ status: 200, type: RevokedKeyDto, description: 'Time of the revocation.' })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'key_not_found')
  async revokeKey(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Param('id') id: string,
    @Query() { reason }: RevocationDto,
  ): Promise<RevokedKeyDto> {
    await this.clients.find(name).catch(asProblem);
    return this.clients.revokeKey(id, name, changedBy(call, reason)).catch(asProblem);
  }
}
